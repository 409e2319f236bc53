//! # Parquet
//! Tables stored as columns in row groups, as written by pandas, Polars, Spark and DuckDB; compressed with snappy,
//! gzip, zstd or LZ4.
//!
//! **Cost** A file is read one page per column at a time. The table of contents is at the end, so a file that arrives
//! through a pipe or in another compression is first loaded into memory.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use bytes::Bytes as Memory;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    ColumnChunkMetaData, FileMetaData, ParquetMetaData, ParquetMetaDataBuilder, RowGroupMetaData,
};
use parquet::file::reader::ChunkReader;

use super::columnar::{self, Batches, guarded};
use crate::Options;
use crate::bytes::{Bytes, Stream};
use crate::error::{DataError, ErrorKind};
use crate::source::Source;

const NAME: &str = "parquet";

/// Number of rows decoded in one step.
const ROWS: usize = 1024;

pub(super) fn open(bytes: Bytes, options: Options) -> Result<Box<dyn Source>, DataError> {
    columnar::open(bytes, options, one)
}

/// Opens one file.
fn one(mut stream: Stream) -> Result<Box<dyn Batches>, ErrorKind> {
    if let Some(path) = &stream.path {
        let ends = || {
            let mut file = File::open(path)?;
            let mut head = Vec::with_capacity(4);
            file.by_ref().take(4).read_to_end(&mut head)?;
            let mut tail = [0; 4];
            if file.seek(SeekFrom::End(0))? >= 8 {
                file.seek(SeekFrom::End(-4))?;
                file.read_exact(&mut tail)?;
            }
            file.rewind()?;
            Ok((file, head, tail))
        };
        let (file, head, tail) = ends().map_err(|source| ErrorKind::Io { source })?;
        check(&head, &tail)?;
        return build(file);
    }
    let mut memory = Vec::new();
    let read = stream.reader.read_to_end(&mut memory);
    read.map_err(|source| Stream::fault(stream.compression, source))?;
    let tail = memory.len().checked_sub(4).filter(|&tail| tail >= 4);
    check(&memory[..memory.len().min(4)], tail.map_or(&[], |tail| &memory[tail..]))?;
    build(Memory::from(memory))
}

/// Checks that a file begins and ends with the magic letters.
fn check(head: &[u8], tail: &[u8]) -> Result<(), ErrorKind> {
    let broken = |what: &str| ErrorKind::Broken { format: NAME, what: what.to_owned() };
    match (head, tail) {
        ([], _) => Err(ErrorKind::Empty),
        (b"PAR1", b"PAR1") => Ok(()),
        (b"PARE", _) | (_, b"PARE") => Err(broken("it is encrypted")),
        (b"PAR1", _) => Err(ErrorKind::Cut { format: NAME }),
        _ => Err(broken("it does not begin with PAR1")),
    }
}

/// Whether a dictionary offset is 0, where the magic letters are, or there are values but no rows. Some writers leave
/// these numbers at 0.
fn needs_repair(read: &ParquetMetaData) -> bool {
    let no_dictionary = |column: &ColumnChunkMetaData| column.dictionary_page_offset() == Some(0);
    let zero = |group: &RowGroupMetaData| {
        group.num_rows() != rows(group) || group.columns().iter().any(no_dictionary)
    };
    let rows: i64 = read.row_groups().iter().map(rows).sum();
    read.file_metadata().num_rows() == 0 && rows > 0 || read.row_groups().iter().any(zero)
}

/// The number of rows: as stated, or else the number of values in the first column that is not nested.
fn rows(group: &RowGroupMetaData) -> i64 {
    if group.num_rows() != 0 {
        return group.num_rows();
    }
    let flat = group.columns().iter().find(|column| column.column_descr().max_rep_level() == 0);
    flat.map_or(0, ColumnChunkMetaData::num_values)
}

/// The table of contents with the errors corrected that [`needs_repair`] finds.
fn repaired(read: &ParquetMetaData) -> Result<ParquetMetaData, ParquetError> {
    let column = |column: &ColumnChunkMetaData| {
        let offset = column.dictionary_page_offset().filter(|offset| *offset != 0);
        column.clone().into_builder().set_dictionary_page_offset(offset).build()
    };
    let group = |group: &RowGroupMetaData| {
        let columns = group.columns().iter().map(column).collect::<Result<_, _>>()?;
        group.clone().into_builder().set_column_metadata(columns).set_num_rows(rows(group)).build()
    };
    let groups = read.row_groups().iter().map(group).collect::<Result<_, ParquetError>>()?;
    let file = read.file_metadata();
    let file = FileMetaData::new(
        file.version(),
        read.row_groups().iter().map(rows).sum(),
        file.created_by().map(str::to_owned),
        file.key_value_metadata().cloned(),
        file.schema_descr_ptr(),
        file.column_orders().cloned(),
    );
    Ok(ParquetMetaDataBuilder::new(file).set_row_groups(groups).build())
}

/// A file before and after its columns are selected.
enum Parquet<R: ChunkReader> {
    New(Option<ParquetRecordBatchReaderBuilder<R>>, SchemaRef),
    Open(ParquetRecordBatchReader, SchemaRef),
}

fn build<R: ChunkReader + 'static>(reader: R) -> Result<Box<dyn Batches>, ErrorKind> {
    let builder = guarded(NAME, || {
        let read =
            ArrowReaderMetadata::load(&reader, ArrowReaderOptions::default()).and_then(|read| {
                if needs_repair(read.metadata()) {
                    let repaired = repaired(read.metadata())?;
                    return ArrowReaderMetadata::try_new(
                        Arc::new(repaired),
                        ArrowReaderOptions::default(),
                    );
                }
                Ok(read)
            });
        let read = read.map_err(|error| error.to_string())?;
        Ok(ParquetRecordBatchReaderBuilder::new_with_metadata(reader, read))
    })?;
    let groups = builder.metadata().row_groups().iter();
    for column in groups.flat_map(RowGroupMetaData::columns) {
        if let Compression::BROTLI(_) | Compression::LZO = column.compression() {
            let name = column.compression().to_string().to_lowercase();
            let name = name.split('(').next().unwrap_or_default().to_owned();
            return Err(ErrorKind::Codec { name });
        }
    }
    let schema = builder.schema().clone();
    Ok(Box::new(Parquet::New(Some(builder), schema)))
}

impl<R: ChunkReader + 'static> Batches for Parquet<R> {
    fn schema(&self) -> SchemaRef {
        let (Self::New(_, schema) | Self::Open(_, schema)) = self;
        schema.clone()
    }

    fn select(&mut self, wanted: Vec<usize>) -> Result<(), ErrorKind> {
        let Self::New(builder, schema) = self else { return Ok(()) };
        let Some(builder) = builder.take() else { return Ok(()) };
        let columns = ProjectionMask::roots(builder.parquet_schema(), wanted);
        let builder = builder.with_projection(columns).with_batch_size(ROWS);
        let reader = guarded(NAME, || builder.build().map_err(|e| e.to_string()))?;
        *self = Self::Open(reader, schema.clone());
        Ok(())
    }

    fn next(&mut self) -> Result<Option<RecordBatch>, ErrorKind> {
        match self {
            Self::New(..) => Ok(None),
            Self::Open(reader, _) => {
                guarded(NAME, || reader.next().transpose().map_err(|error| error.to_string()))
            }
        }
    }
}
