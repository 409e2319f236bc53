//! Damaged Parquet and Arrow files give an error, or rows; never a panic that reaches the caller, never an endless loop. A process of its
//! own, because it sets the hook of the process to see that no panic inside the arrow libraries is printed.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::types::Int8Type;
use arrow_array::{ArrayRef, DictionaryArray, Float64Array, Int8Array, RecordBatch, StringArray};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use geowalk::laws::Sampler;
use geowalk::row::Block;
use geowalk_data::{DataError, Input, Options, open};
use parquet::arrow::ArrowWriter;

fn read(name: &str, bytes: Vec<u8>) -> Result<usize, DataError> {
    let mut source = open(Options::new([Input::text(name, bytes)]))?;
    let (mut block, mut rows) = (Block::new(), 0);
    loop {
        match source.read(&mut block, 100)? {
            0 => return Ok(rows),
            n => rows += n,
        }
    }
}

#[test]
fn garbage_is_an_error_never_a_panic() {
    let printed = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&printed);
    std::panic::set_hook(Box::new(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
    }));
    let numbers: Vec<f64> = (0..30).map(f64::from).collect();
    let labels: Vec<Option<i8>> = (0..30).map(|k| Some(k % 2)).collect();
    let words: Vec<&str> = (0..30).map(|k| ["red", "green", "blue"][k % 3]).collect();
    let coded: DictionaryArray<Int8Type> = words.iter().copied().collect();
    let batch = RecordBatch::try_from_iter([
        ("x", Arc::new(Float64Array::from(numbers)) as ArrayRef),
        ("c", Arc::new(StringArray::from(words)) as ArrayRef),
        ("d", Arc::new(coded) as ArrayRef),
        ("y", Arc::new(Int8Array::from(labels)) as ArrayRef),
    ])
    .unwrap();
    let mut parquet = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    let mut stream = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    let mut file = FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    parquet.write(&batch).unwrap();
    stream.write(&batch).unwrap();
    file.write(&batch).unwrap();
    let forms = [
        ("a.parquet", parquet.into_inner().unwrap()),
        ("a.arrow", stream.into_inner().unwrap()),
        ("a.feather", file.into_inner().unwrap()),
    ];
    let mut bits = Sampler::new(5);
    for (name, whole) in &forms {
        assert_eq!(read(name, whole.clone()).unwrap(), 30);
        let mut errors = 0;
        for _ in 0..1500 {
            let mut bytes = whole.clone();
            for _ in 0..=bits.below(4) {
                let at = bits.below(bytes.len());
                match bits.below(3) {
                    0 => bytes[at] = u8::try_from(bits.below(256)).unwrap(),
                    1 => bytes[at] = bytes[at].wrapping_add(1),
                    _ => drop(bytes.remove(at)),
                }
            }
            errors += usize::from(read(name, bytes).is_err());
        }
        println!("{name}: {errors} of 1500 are errors");
        assert!(errors > 300, "{name}: {errors}");
    }
    assert_eq!(printed.load(Ordering::Relaxed), 0, "panics that reached the hook");
}
