//! Parquet and Arrow: the same table is the same features as in CSV, whatever the row groups, batches, blocks and pipes; what cannot be
//! read says why.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests")]
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "small numbers")]

use std::io::Write;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::types::{ArrowPrimitiveType, Float16Type, Int8Type};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, DictionaryArray,
    FixedSizeBinaryArray, Float16Array, Float32Array, Float64Array, Int8Array, Int16Array,
    Int32Array, Int64Array, LargeStringArray, NullArray, RecordBatch, StringArray, StringViewArray,
    Time64MicrosecondArray, TimestampMillisecondArray, TimestampNanosecondArray,
    TimestampSecondArray, UInt8Array, UInt16Array, UInt32Array, UInt64Array,
};
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use geowalk::row::{Block, Row};
use geowalk_data::{DataError, Decision, Input, Kind, Label, OnError, Options, open};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader, ParquetMetaDataWriter};
use parquet::file::properties::WriterProperties;

type Half = <Float16Type as ArrowPrimitiveType>::Native;

fn column<T>(
    rows: usize,
    value: impl Fn(usize) -> T,
    array: impl Fn(Vec<T>) -> ArrayRef,
) -> ArrayRef {
    array((0..rows).map(value).collect())
}

fn every<T>(k: usize, n: usize, value: T) -> Option<T> {
    (!k.is_multiple_of(n)).then_some(value)
}

/// Every type that is read, and the same table as CSV.
fn table(rows: usize) -> (RecordBatch, String) {
    let word = |k: usize| ["red", "green", "light, \"blue\""][k % 3];
    let said = |k: usize| format!("Message {k} isn't the {} one", k % 7);
    let batch = RecordBatch::try_from_iter([
        ("i8", column(rows, |k| every(k, 5, k as i8), |v| Arc::new(Int8Array::from(v)))),
        ("i16", column(rows, |k| -(k as i16), |v| Arc::new(Int16Array::from(v)))),
        ("i32", column(rows, |k| k as i32 - 9, |v| Arc::new(Int32Array::from(v)))),
        ("i64", column(rows, |k| (1 << 60) + k as i64, |v| Arc::new(Int64Array::from(v)))),
        ("u8", column(rows, |k| k as u8, |v| Arc::new(UInt8Array::from(v)))),
        ("u16", column(rows, |k| k as u16, |v| Arc::new(UInt16Array::from(v)))),
        ("u32", column(rows, |k| every(k, 3, k as u32), |v| Arc::new(UInt32Array::from(v)))),
        ("u64", column(rows, |k| u64::MAX - k as u64, |v| Arc::new(UInt64Array::from(v)))),
        (
            "f16",
            column(
                rows,
                |k| Half::from_f32((k % 64) as f32 / 4.0),
                |v| Arc::new(Float16Array::from(v)),
            ),
        ),
        ("f32", column(rows, |k| k as f32 / 8.0, |v| Arc::new(Float32Array::from(v)))),
        ("f64", column(rows, |k| every(k, 7, k as f64 / 3.0), |v| Arc::new(Float64Array::from(v)))),
        ("flag", column(rows, |k| every(k, 4, k % 2 == 0), |v| Arc::new(BooleanArray::from(v)))),
        ("utf8", column(rows, |k| every(k, 6, word(k)), |v| Arc::new(StringArray::from(v)))),
        ("large", column(rows, |k| every(k, 8, word(k)), |v| Arc::new(LargeStringArray::from(v)))),
        ("view", column(rows, |k| every(k, 9, word(k)), |v| Arc::new(StringViewArray::from(v)))),
        (
            "coded",
            column(
                rows,
                |k| every(k, 5, word(k)),
                |v| Arc::new(v.into_iter().collect::<DictionaryArray<Int8Type>>()),
            ),
        ),
        ("none", Arc::new(NullArray::new(rows))),
        ("said", column(rows, said, |v| Arc::new(StringArray::from(v)))),
        ("importance", column(rows, |k| (k % 3) as f64, |v| Arc::new(Float64Array::from(v)))),
        ("id", column(rows, |k| k as i64, |v| Arc::new(Int64Array::from(v)))),
        ("class", column(rows, |k| ["no", "yes"][k % 2], |v| Arc::new(StringArray::from(v)))),
    ])
    .unwrap();
    let names: Vec<_> = batch.schema().fields().iter().map(|f| f.name().clone()).collect();
    let mut csv = names.join(",") + "\n";
    let text = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let maybe = |value: Option<String>| value.unwrap_or_default();
    for k in 0..rows {
        let fields = [
            maybe(every(k, 5, (k as i8).to_string())),
            (-(k as i16)).to_string(),
            (k as i32 - 9).to_string(),
            ((1_i64 << 60) + k as i64).to_string(),
            (k as u8).to_string(),
            (k as u16).to_string(),
            maybe(every(k, 3, k.to_string())),
            (u64::MAX - k as u64).to_string(),
            ((k % 64) as f32 / 4.0).to_string(),
            (k as f32 / 8.0).to_string(),
            maybe(every(k, 7, (k as f64 / 3.0).to_string())),
            maybe(every(k, 4, (k % 2 == 0).to_string())),
            maybe(every(k, 6, text(word(k)))),
            maybe(every(k, 8, text(word(k)))),
            maybe(every(k, 9, text(word(k)))),
            maybe(every(k, 5, text(word(k)))),
            String::new(),
            text(&said(k)),
            (k % 3).to_string(),
            k.to_string(),
            ["no", "yes"][k % 2].to_owned(),
        ];
        csv += &(fields.join(",") + "\n");
    }
    (batch, csv)
}

fn parquet(batch: &RecordBatch, group: usize, compression: Compression) -> Vec<u8> {
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(group))
        .set_compression(compression)
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

fn parts(batch: &RecordBatch, rows: usize) -> impl Iterator<Item = RecordBatch> {
    let count = batch.num_rows();
    (0..count).step_by(rows).map(move |from| batch.slice(from, rows.min(count - from)))
}

fn stream(batch: &RecordBatch, rows: usize, options: IpcWriteOptions) -> Vec<u8> {
    let mut writer =
        StreamWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
    parts(batch, rows).for_each(|part| writer.write(&part).unwrap());
    writer.into_inner().unwrap()
}

fn file(batch: &RecordBatch, rows: usize) -> Vec<u8> {
    let mut writer = FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    parts(batch, rows).for_each(|part| writer.write(&part).unwrap());
    writer.into_inner().unwrap()
}

/// A table of these columns in every form.
fn forms(batch: &RecordBatch) -> [(&'static str, Vec<u8>); 3] {
    [
        ("a.parquet", parquet(batch, 1000, Compression::UNCOMPRESSED)),
        ("a.arrow", stream(batch, 1000, IpcWriteOptions::default())),
        ("a.feather", file(batch, 1000)),
    ]
}

fn options(inputs: Vec<Input>) -> Options {
    Options { ignore: vec!["id".into()], weight: Some("importance".into()), ..Options::new(inputs) }
}

/// All rows, by the names of their features, and what is known at the end.
fn trace(options: Options, rows: usize) -> Result<Vec<String>, DataError> {
    let mut source = open(options)?;
    let mut block = Block::new();
    let mut out = Vec::new();
    while source.read(&mut block, rows)? > 0 {
        for i in 0..block.len() {
            let mut features = Vec::new();
            let mut add = |index: usize, value: f64| {
                let name = source.schema().features().name(index as u32).unwrap();
                features.push(format!("{index} {name} {}", value.to_bits()));
            };
            match block.columns() {
                Some(_) => block.dense(i).each(&mut add),
                None => block.sparse(i).each(&mut add),
            }
            out.push(format!("{} {} {features:?}", block.labels()[i], block.weights()[i]));
        }
    }
    out.push(format!("{:?} {:?}", source.schema().columns(), source.schema().labels()));
    out.extend(source.decisions().iter().map(ToString::to_string));
    Ok(out)
}

fn read(name: &str, bytes: Vec<u8>) -> Result<Vec<String>, DataError> {
    trace(Options::new([Input::text(name, bytes)]), 100)
}

fn message(name: &str, bytes: Vec<u8>) -> String {
    read(name, bytes).unwrap_err().to_string()
}

#[test]
fn the_same_table_is_the_same_features() {
    let (batch, csv) = table(1500);
    let whole = trace(options(vec![Input::text("a.csv", csv)]), 1 << 20).unwrap();
    assert_eq!(whole.len(), 1502);
    assert!(whole[1501].contains("column 'said' is split into words"), "{}", whole[1501]);
    assert!(whole[1].contains("said=isn't") && whole[1].starts_with("1 1 "), "{}", whole[1]);
    let zstd = Compression::ZSTD(ZstdLevel::default());
    let lz4 = IpcWriteOptions::default()
        .try_with_compression(Some(arrow_ipc::CompressionType::LZ4_FRAME))
        .unwrap();
    let gzipped = |bytes: &[u8]| {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(bytes).unwrap();
        gzip.finish().unwrap()
    };
    let forms = [
        ("p.parquet", parquet(&batch, 1 << 20, Compression::SNAPPY)),
        ("p.parquet", parquet(&batch, 77, zstd)),
        ("p.gz", gzipped(&parquet(&batch, 1001, Compression::LZ4_RAW))),
        (
            "p.zst",
            zstd::encode_all(&parquet(&batch, 999, Compression::UNCOMPRESSED)[..], 1).unwrap(),
        ),
        ("a.arrow", stream(&batch, 1 << 20, lz4)),
        ("-", stream(&batch, 13, IpcWriteOptions::default())),
        ("a.feather", file(&batch, 100)),
        ("a.feather.gz", gzipped(&file(&batch, 1499))),
    ];
    for (name, bytes) in forms {
        for rows in [1, 100, 1 << 20] {
            let found = trace(options(vec![Input::text(name, bytes.clone())]), rows).unwrap();
            for (a, b) in found.iter().zip(&whole) {
                assert_eq!(a, b, "{name} in blocks of {rows}");
            }
            assert_eq!(found.len(), whole.len());
        }
    }
}

#[test]
fn parts_and_pipes_do_not_matter() {
    let (batch, _) = table(2100);
    let whole = read("a.parquet", parquet(&batch, 500, Compression::SNAPPY)).unwrap();
    // Also an empty part, and pieces of other formats of the same family.
    let inputs = [(0, 1100), (1100, 0), (1100, 400), (1500, 600)]
        .map(|(from, rows)| batch.slice(from, rows));
    let arrow = inputs
        .each_ref()
        .map(|part| Input::text("-", stream(part, 90, IpcWriteOptions::default())));
    assert!(trace(Options::new(arrow), 64).unwrap() == whole);
    let pieces = inputs.each_ref().map(|part| parquet(part, 50, Compression::UNCOMPRESSED));
    let memory = pieces.each_ref().map(|bytes| Input::text("-", bytes.clone()));
    assert!(trace(Options::new(memory), 64).unwrap() == whole);
    // A file is searched, a pipe is not; the name says nothing.
    let folder = std::env::temp_dir().join(format!("geowalk-columnar-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (k, bytes) in pieces.iter().enumerate() {
        std::fs::write(folder.join(format!("part-{k}")), bytes).unwrap();
    }
    let pattern = folder.join("part-*").to_string_lossy().into_owned();
    let found = trace(Options::new([pattern]), 1000);
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(found.unwrap() == whole);
}

#[test]
fn dense_until_something_is_missing() {
    let x: Vec<Option<i32>> = (0..1500).map(|k| (k != 1400).then_some(k)).collect();
    let y: Vec<f32> = (0..1500).map(|k| k as f32).collect();
    let batch = RecordBatch::try_from_iter([
        ("x", Arc::new(Int32Array::from(x)) as ArrayRef),
        ("y", Arc::new(Float32Array::from(y)) as ArrayRef),
    ])
    .unwrap();
    for (name, bytes) in forms(&batch) {
        let mut source = open(Options::new([Input::text(name, bytes)])).unwrap();
        let mut block = Block::new();
        assert_eq!(source.read(&mut block, 5000).unwrap(), 1400, "{name}");
        assert_eq!(block.columns(), Some(1));
        assert_eq!(source.read(&mut block, 5000).unwrap(), 100);
        assert_eq!(block.columns(), None);
        assert_eq!(source.places().get(0).unwrap().to_string(), format!("{name}: row 1401"));
        assert_eq!(source.schema().features().name(1).as_deref(), Some("x=missing"));
        assert_eq!(source.read(&mut block, 5000).unwrap(), 0);
    }
}

#[test]
fn declared_types_count_more_than_looks() {
    let late: Vec<Option<&str>> = (0..1200).map(|k| (k > 1100).then_some("7")).collect();
    let batch = RecordBatch::try_from_iter([
        ("zip", Arc::new(StringArray::from(vec!["10115"; 1200])) as ArrayRef),
        ("late", Arc::new(StringArray::from(late)) as ArrayRef),
        ("code", Arc::new(Int64Array::from(vec![9_007_199_254_740_993; 1200])) as ArrayRef),
        ("y", Arc::new(BooleanArray::from(vec![true; 1200])) as ArrayRef),
    ])
    .unwrap();
    for (name, bytes) in forms(&batch) {
        let options =
            Options { nominal: vec!["code".into()], ..Options::new([Input::text(name, bytes)]) };
        let found = trace(options, 1 << 20).unwrap();
        for part in ["zip=10115", "late=missing", "code=9007199254740993"] {
            assert!(found[0].contains(part), "{part} in {}", found[0]);
        }
        assert!(found[1199].contains("late=7") && found[1200].contains("Names"), "{name}");
    }
}

#[test]
fn a_later_reading_knows_the_columns() {
    let (batch, csv) = table(1200);
    let learned = |options: Options| {
        let mut source = open(options).unwrap();
        while source.read(&mut Block::new(), 1000).unwrap() > 0 {}
        source.schema().clone()
    };
    let schema = learned(options(vec![Input::text("a.csv", csv.clone())]));
    assert_eq!(schema.of_kind(Kind::Text).collect::<Vec<_>>(), ["said"]);
    assert_eq!(schema.of_kind(Kind::Weight).collect::<Vec<_>>(), ["importance"]);
    let again =
        |inputs: Vec<Input>| Options { schema: Some(schema.clone()), ..Options::new(inputs) };
    let whole = trace(again(vec![Input::text("a.csv", csv)]), 100).unwrap();
    // Other order of columns, without label and weight, only three rows: nothing is inferred.
    let names: Vec<usize> = (0..18).rev().collect();
    for (name, bytes) in forms(&batch.slice(600, 3).project(&names).unwrap()) {
        let options = Options { unlabelled: true, ..again(vec![Input::text(name, bytes)]) };
        let found = trace(options, 100).unwrap();
        assert_eq!(found.len(), 4);
        let sorted = |row: &str| {
            let start = row.find('[').unwrap();
            let mut names: Vec<&str> =
                row[start..].trim_matches(['[', ']']).split(", \"").collect();
            for name in &mut names {
                *name = name.trim_matches('"');
            }
            names.sort_unstable();
            names.join(";")
        };
        assert_eq!(sorted(&found[1]), sorted(&whole[601]), "{name}");
        assert!(found[1].starts_with("NaN 1 "), "{}", found[1]);
    }
    for (asked, says) in [
        (
            Options { text: vec!["utf8".into()], ..again(vec![]) },
            "column 'utf8' is nominal in the model, not text",
        ),
        (
            Options { nominal: vec!["said".into()], ..again(vec![]) },
            "column 'said' is text in the model, not nominal",
        ),
        (
            Options { weight: Some("i8".into()), ..again(vec![]) },
            "column 'i8' is numeric in the model, not weight",
        ),
    ] {
        let input = vec![Input::text("a.parquet", parquet(&batch, 9, Compression::SNAPPY))];
        let error = open(Options { inputs: input, ..asked }).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}

/// A column with one cell, and how that cell is read: `name value` of each feature.
fn one_cell(array: ArrayRef, nominal: bool) -> [Vec<String>; 3] {
    let y = Arc::new(Int8Array::from(vec![1])) as ArrayRef;
    let batch = RecordBatch::try_from_iter([("x", array), ("y", y)]).unwrap();
    forms(&batch).map(|(name, bytes)| {
        let nominal = if nominal { vec!["x".to_owned()] } else { vec![] };
        let options = Options { nominal, ..Options::new([Input::text(name, bytes)]) };
        let mut source = open(options).unwrap();
        let mut block = Block::new();
        assert_eq!(source.read(&mut block, 10).unwrap(), 1, "{name}");
        let mut found = Vec::new();
        let mut add = |index: usize, value: f64| {
            let name = source.schema().features().name(index as u32).unwrap();
            found.push(format!("{name} {value}"));
        };
        match block.columns() {
            Some(_) => block.dense(0).each(&mut add),
            None => block.sparse(0).each(&mut add),
        }
        found
    })
}

#[test]
fn dates_decimals_and_lists_are_features() {
    let noon = 1_700_000_000_i64;
    let mut words = ListBuilder::new(StringBuilder::new());
    for word in ["red", "blue", "red"] {
        words.values().append_value(word);
    }
    words.append(true);
    let price = Decimal128Array::from(vec![150]).with_precision_and_scale(5, 2).unwrap();
    let exact = Decimal128Array::from(vec![12_345_678_901_234_567_890_123_456_789]);
    let exact = exact.with_precision_and_scale(38, 20).unwrap();
    let cases: [(ArrayRef, &[&str]); 10] = [
        (
            Arc::new(Date32Array::from(vec![19_675])),
            &["x.year 2023", "x.month 11", "x.weekday=Tue 1", "x.days 19675"],
        ),
        (
            Arc::new(TimestampSecondArray::from(vec![noon])),
            &["x.year 2023", "x.month 11", "x.weekday=Tue 1", "x.days 19675.925925925927"],
        ),
        (
            Arc::new(TimestampMillisecondArray::from(vec![noon * 1000 + 500])),
            &["x.year 2023", "x.month 11", "x.weekday=Tue 1", "x.days 19675.92593171296"],
        ),
        (
            Arc::new(TimestampNanosecondArray::from(vec![noon * 1_000_000_000])),
            &["x.year 2023", "x.month 11", "x.weekday=Tue 1", "x.days 19675.925925925927"],
        ),
        (Arc::new(Time64MicrosecondArray::from(vec![1_500_000])), &["x 1.5"]),
        (Arc::new(price), &["x 1.5"]),
        (Arc::new(exact), &["x 123456789.01234567"]),
        (Arc::new(words.finish()), &["x=red 2", "x=blue 1"]),
        (Arc::new(BinaryArray::from(vec![&b"red"[..]])), &["x=red 1"]),
        (Arc::new(Float64Array::from(vec![f64::NAN])), &["x=missing 1"]),
    ];
    for (array, expected) in cases {
        for found in one_cell(array, false) {
            assert_eq!(found, expected);
        }
    }
    for found in one_cell(Arc::new(Date32Array::from(vec![19_675])), true) {
        assert_eq!(found, ["x=2023-11-14 1"]);
    }
    for found in one_cell(Arc::new(TimestampSecondArray::from(vec![noon])), true) {
        assert_eq!(found, ["x=2023-11-14 22:13:20 1"]);
    }
}

/// A stream with one column of integers, whose schema says that numbers are of this byte order.
fn stream_of_order(order: arrow_ipc::Endianness) -> Vec<u8> {
    let mut out = flatbuffers::FlatBufferBuilder::new();
    let name = out.create_string("y");
    let mut whole = arrow_ipc::IntBuilder::new(&mut out);
    whole.add_bitWidth(32);
    whole.add_is_signed(true);
    let whole = whole.finish();
    let children = out.create_vector::<flatbuffers::WIPOffset<arrow_ipc::Field<'_>>>(&[]);
    let mut field = arrow_ipc::FieldBuilder::new(&mut out);
    field.add_name(name);
    field.add_type_type(arrow_ipc::Type::Int);
    field.add_type_(whole.as_union_value());
    field.add_children(children);
    let field = field.finish();
    let fields = out.create_vector(&[field]);
    let mut schema = arrow_ipc::SchemaBuilder::new(&mut out);
    schema.add_endianness(order);
    schema.add_fields(fields);
    let schema = schema.finish();
    let mut message = arrow_ipc::MessageBuilder::new(&mut out);
    message.add_version(arrow_ipc::MetadataVersion::V5);
    message.add_header_type(arrow_ipc::MessageHeader::Schema);
    message.add_header(schema.as_union_value());
    let message = message.finish();
    out.finish(message, None);
    let mut schema = out.finished_data().to_vec();
    schema.resize(schema.len().next_multiple_of(8), 0);
    let y = Arc::new(Int32Array::from(vec![1, -2])) as ArrayRef;
    let whole =
        stream(&RecordBatch::try_from_iter([("y", y)]).unwrap(), 9, IpcWriteOptions::default());
    let old = u32::from_le_bytes([whole[4], whole[5], whole[6], whole[7]]) as usize;
    let mut bytes = vec![0xff; 4];
    bytes.extend((schema.len() as u32).to_le_bytes());
    bytes.extend(schema);
    bytes.extend(&whole[8 + old..]);
    bytes
}

#[test]
fn arrow_of_the_other_byte_order_is_refused() {
    let label = |order| {
        let inputs = [Input::text("a.arrow", stream_of_order(order))];
        trace(Options { label: Label::Named("y".into()), ..Options::new(inputs) }, 10)
    };
    assert!(label(arrow_ipc::Endianness::Little).unwrap()[1].starts_with("-2 "));
    assert_eq!(
        label(arrow_ipc::Endianness::Big).unwrap_err().to_string(),
        "a.arrow: the numbers of this Arrow file are in the byte order of another kind of machine; \
         write it again with pyarrow, which reads both orders"
    );
}

#[test]
fn arrow_before_version_0_15_is_read() {
    let (batch, _) = table(30);
    let old = IpcWriteOptions::try_new(8, true, arrow_ipc::MetadataVersion::V4).unwrap();
    let bytes = stream(&batch, 10, old);
    assert_ne!(bytes[..4], [0xff; 4]);
    let new = read("a", stream(&batch, 10, IpcWriteOptions::default())).unwrap();
    assert!(read("a", bytes).unwrap() == new);
}

/// The bytes of a Parquet file with another table of contents.
fn with_contents(bytes: &[u8], change: impl Fn(ParquetMetaData) -> ParquetMetaData) -> Vec<u8> {
    let memory = bytes::Bytes::copy_from_slice(bytes);
    let read = ParquetMetaDataReader::new().parse_and_finish(&memory).unwrap();
    let length = &bytes[bytes.len() - 8..bytes.len() - 4];
    let length = u32::from_le_bytes([length[0], length[1], length[2], length[3]]) as usize;
    let mut out = bytes[..bytes.len() - 8 - length].to_vec();
    let mut footer = Vec::new();
    ParquetMetaDataWriter::new(&mut footer, &change(read)).finish().unwrap();
    out.extend(footer);
    out
}

#[test]
fn parquet_with_zeros_in_its_contents_is_read() {
    let numbers: Vec<i32> = (0..500).collect();
    let y = Arc::new(Int32Array::from(numbers)) as ArrayRef;
    let batch = RecordBatch::try_from_iter([("x", y.clone()), ("y", y)]).unwrap();
    let properties = WriterProperties::builder().set_dictionary_enabled(false).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    let whole = writer.into_inner().unwrap();
    let zeros = with_contents(&whole, |read| {
        let groups = read.row_groups().iter().map(|group| {
            let columns = group.columns().iter().map(|column| {
                column.clone().into_builder().set_dictionary_page_offset(Some(0)).build().unwrap()
            });
            let columns = columns.collect();
            let group = group.clone().into_builder().set_column_metadata(columns);
            group.set_num_rows(0).build().unwrap()
        });
        let groups = groups.collect();
        read.into_builder().set_row_groups(groups).build()
    });
    assert_ne!(zeros, whole);
    assert!(read("a.parquet", zeros).unwrap() == read("a.parquet", whole).unwrap());
}

#[test]
fn a_wrong_checksum_of_a_parquet_page_is_noticed() {
    // By pyarrow, with write_page_checksum=True: arrow-rs does not write checksums.
    let mut bytes = include_bytes!("fixtures/checksum.parquet").to_vec();
    assert_eq!(read("a.parquet", bytes.clone()).unwrap().len(), 5);
    let value = (1_000_000_007_i64 * 3).to_le_bytes();
    let at = bytes.windows(8).position(|window| window == value).unwrap();
    bytes[at] ^= 1;
    let text = message("a.parquet", bytes);
    assert!(text.contains("checksum"), "{text}");
}

#[test]
fn buffers_that_claim_to_be_huge_are_refused() {
    // By pyarrow, with compression='lz4'. Its lengths are all at multiples of 8.
    let whole = include_bytes!("fixtures/lz4.arrow").to_vec();
    assert_eq!(read("a.arrow", whole.clone()).unwrap().len(), 4);
    let mut huge = 0;
    for at in (0..whole.len() - 8).step_by(8) {
        let mut bytes = whole.clone();
        bytes[at..at + 8].copy_from_slice(&(1_i64 << 59).to_le_bytes());
        let text = read("a.arrow", bytes).err().map(|error| error.to_string());
        huge +=
            usize::from(text.unwrap_or_default().contains("that unpacks to 576460752303423488"));
    }
    assert!(huge > 0);
}

#[test]
fn codecs_that_are_not_read_are_named() {
    // By pyarrow, with compression='brotli'.
    let text = message("a.parquet", include_bytes!("fixtures/brotli.parquet").to_vec());
    assert_eq!(
        text,
        "a.parquet: the columns are compressed by brotli, which is not read; write the file with snappy, gzip, zstd \
         or LZ4"
    );
}

#[test]
fn types_that_are_not_read_say_what_to_do() {
    let y = || Arc::new(Int8Array::from(vec![1])) as ArrayRef;
    let fixed = FixedSizeBinaryArray::try_from(vec![&b"ab"[..]]).unwrap();
    let nested = arrow_array::StructArray::from(vec![(
        Arc::new(arrow_schema::Field::new("part", arrow_schema::DataType::Int8, false)),
        y(),
    )]);
    for (array, parts) in [
        (
            Arc::new(fixed) as ArrayRef,
            ["column 'x' is of type FixedSizeBinary(2)", "if it is text"],
        ),
        (Arc::new(nested), ["column 'x' is of type Struct", "each part as a column"]),
    ] {
        let batch = RecordBatch::try_from_iter([("x", array), ("y", y())]).unwrap();
        for (name, bytes) in forms(&batch) {
            let text = message(name, bytes.clone());
            for part in parts.iter().chain(&["--ignore 'x'", "numbers, booleans or text expected"])
            {
                assert!(text.contains(part), "{text}");
            }
            let inputs = [Input::text(name, bytes)];
            let ignore = Options { ignore: vec!["x".into()], ..Options::new(inputs) };
            assert_eq!(trace(ignore, 10).unwrap().len(), 2);
        }
    }
}

#[test]
fn bad_rows_have_row_and_column() {
    let batch = RecordBatch::try_from_iter([
        ("w", Arc::new(Float64Array::from(vec![1.0, 1.0, 1.0, -2.0, 1.0])) as ArrayRef),
        ("x", Arc::new(Float64Array::from(vec![1.0, f64::INFINITY, 3.0, 4.0, 5.0])) as ArrayRef),
        ("c", Arc::new(StringArray::from(vec!["a", "b\"c", "c", "d", "e"])) as ArrayRef),
        (
            "y",
            Arc::new(Int8Array::from(vec![Some(1), Some(0), None, Some(0), Some(1)])) as ArrayRef,
        ),
    ])
    .unwrap();
    for (name, bytes) in forms(&batch) {
        let weighted = || Options {
            weight: Some("w".into()),
            ..Options::new([Input::text(name, bytes.clone())])
        };
        assert_eq!(
            trace(weighted(), 10).unwrap_err().to_string(),
            format!(
                "{name}: row 2, column 2: the value of feature x is 'inf'; a finite number expected; correct it, or skip bad rows with --on-error skip"
            )
        );
        let bin = std::env::temp_dir().join(format!("geowalk-bin-{}-{name}", std::process::id()));
        let on_error = OnError::Quarantine(Box::new(std::fs::File::create(&bin).unwrap()));
        let mut source = open(Options { on_error, ..weighted() }).unwrap();
        let mut block = Block::new();
        assert_eq!(source.read(&mut block, 10).unwrap(), 2);
        let errors: Vec<String> =
            source.skipped().first().iter().map(ToString::to_string).collect();
        let starts = [
            "row 2, column 2: the value of feature x",
            "row 3, column 4: no label;",
            "row 4, column 1: importance weight -2;",
        ];
        assert_eq!(errors.len(), starts.len());
        for (error, start) in errors.iter().zip(starts) {
            assert!(error.starts_with(&format!("{name}: {start}")), "{error}");
        }
        assert_eq!(source.places().get(1).unwrap().to_string(), format!("{name}: row 5"));
        drop(source);
        let written = std::fs::read_to_string(&bin).unwrap();
        std::fs::remove_file(&bin).unwrap();
        assert_eq!(written, "1,inf,\"b\"\"c\",0\n1,3,\"c\",\n-2,4,\"d\",0\n");
    }
}

#[test]
fn tables_that_do_not_fit() {
    let one = |name: &str| {
        RecordBatch::try_from_iter([(name, Arc::new(Int8Array::from(vec![1])) as ArrayRef)])
            .unwrap()
    };
    for (name, bytes) in forms(&one("x")) {
        assert_eq!(
            message(name, bytes),
            format!(
                "{name}: no label column; one of class, label, target, y expected; name it with --label; columns: x"
            )
        );
    }
    for (name, bytes) in forms(&one("y").slice(0, 0)) {
        assert!(message(name, bytes).starts_with(&format!("{name}: the input is empty")), "{name}");
    }
    for ((name, y), (_, x)) in forms(&one("y")).into_iter().zip(forms(&one("x"))) {
        let two = Options::new([Input::text(name, y), Input::text("b", x)]);
        let error = trace(two, 10).unwrap_err().to_string();
        assert!(error.starts_with("b: the header differs from the first file's: 'x'"), "{error}");
    }
    for name in ["a.parquet", "a.arrow", "a.feather"] {
        assert!(message(name, Vec::new()).starts_with(&format!("{name}: the input is empty")));
    }
    let text = message("a.parquet", b"x,y\n1,2\n".to_vec());
    assert!(
        text.starts_with(
            "a.parquet: this is no parquet file that can be read (it does not begin with PAR1)"
        ),
        "{text}"
    );
    let text = message("a.arrow", b"x,y\n1,2\n".to_vec());
    assert!(text.contains("it begins neither with ARROW1 nor with a message"), "{text}");
    let text = message("a.feather", b"FEA1....FEA1".to_vec());
    assert!(text.contains("Feather version 1"), "{text}");
    let label =
        Options { label: Label::Absent, ..Options::new([Input::text("a", file(&one("x"), 1))]) };
    assert!(trace(label, 1).unwrap()[0].starts_with("NaN"));
}

#[test]
fn a_file_that_is_cut_is_never_taken_for_a_shorter_one() {
    let (batch, _) = table(40);
    let rows = |name: &str, bytes: &[u8]| {
        let mut source = open(Options::new([Input::text(name, bytes.to_vec())]))?;
        let mut block = Block::new();
        let mut rows = 0;
        loop {
            match source.read(&mut block, 7)? {
                0 => return Ok::<_, DataError>(rows),
                n => rows += n,
            }
        }
    };
    let forms = [
        ("a.parquet", parquet(&batch, 10, Compression::SNAPPY)),
        ("a.arrow", stream(&batch, 10, IpcWriteOptions::default())),
        ("a.feather", file(&batch, 10)),
    ];
    for (name, bytes) in &forms {
        assert_eq!(rows(name, bytes).unwrap(), 40);
        for length in (1..bytes.len()).step_by(37).chain([bytes.len() - 1]) {
            match rows(name, &bytes[..length]) {
                // A stream may end after any batch; the last bytes only say that it is over.
                Ok(rows) => assert!(*name == "a.arrow" && rows % 10 == 0, "{name} {length}"),
                Err(error) => {
                    let text = error.to_string();
                    let expected = length < 8 || text.contains("stops in the middle");
                    assert!(expected, "{name} {length}: {text}");
                }
            }
        }
    }
    // Rows of a stream before its end are delivered.
    let cut = &forms[1].1[..forms[1].1.len() / 2 + 100];
    let mut source = open(Options::new([Input::text("a.arrow", cut.to_vec())])).unwrap();
    assert!(source.read(&mut Block::new(), 100).unwrap() >= 10);
    assert!(source.read(&mut Block::new(), 100).is_err());
    assert_eq!(source.read(&mut Block::new(), 100).unwrap(), 0);
    // So it is behind a compression.
    let zstd = zstd::encode_all(&forms[0].1[..], 1).unwrap();
    let text = message("a.parquet.zst", zstd[..zstd.len() / 2].to_vec());
    assert!(text.contains("the zstd stream stops in the middle"), "{text}");
}

#[test]
fn what_was_decided_is_said() {
    let (batch, _) = table(30);
    for (name, bytes) in forms(&batch) {
        let source = open(Options::new([Input::text(name, bytes)])).unwrap();
        let [Decision::Text { column, values: 30, distinct: 30, words: 120 }] = source.decisions()
        else {
            panic!("{:?}", source.decisions())
        };
        assert_eq!(column, "said");
    }
}
