//! The model file from outside: what is written comes back, everything else is refused.

#![allow(clippy::unwrap_used)] // also in the helpers of the tests

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::PathBuf;

use geowalk::row::Block;
use geowalk_data::{
    Column, Dictionary, Features, Hashed, Index, Input, Kind, Labels, Options, Schema, Task, open,
};
use geowalk_run::model::{FORMAT, LearnerSettings, Model, ModelError, Settings, StreamSettings};
use proptest::prelude::*;
use safetensors::SafeTensors;
use serde_json::{Value, json};

/// Where `docs/model-format.md` says that the digits of the digest are.
const DIGITS: Range<usize> = 35..99;

fn walk() -> LearnerSettings {
    LearnerSettings::parse("mirror:simplex-entropy(signed=true, scale=2)", "auto").unwrap()
}

fn model(features: Features, labels: Labels) -> Model {
    let columns = [Kind::Numeric, Kind::Nominal, Kind::Undecided, Kind::Label, Kind::Ignored];
    let columns = columns.into_iter().map(|kind| Column { name: format!("{kind:?} \"ü\""), kind });
    Model {
        settings: Settings {
            seed: u64::MAX,
            certificate: false,
            y_range: Some((-0.0, 5e-324)),
            stream: StreamSettings {
                passes: Some(json!(3)),
                window: Some(9),
                ..StreamSettings::default()
            },
            ..Settings::new(walk(), "huber(delta=0.5)", Task::Binary)
        },
        schema: Schema::from_parts(features, labels, columns.collect()),
        classes: vec![-0.0, 0.1 + 0.2],
        examples: (1 << 53) + 1,
        arrays: vec![
            ("w".into(), vec![0.0, -0.0, 5e-324, f64::MAX, f64::MIN_POSITIVE, -1.0 / 3.0]),
            ("nothing".into(), vec![]),
            ("also \"nothing\"\n".into(), vec![]),
            ("a".into(), vec![1.0]),
        ],
        summary: json!({ "loss": 0.1 + 0.7, "metrics": { "auc": 0.75 }, "text": "a\u{0}b" }),
    }
}

fn index() -> Features {
    Features::Index(Index { base: 1, detected: true })
}

fn hashed() -> Features {
    let mut hashed = Hashed::new(3).unwrap();
    for k in 0..20 {
        hashed.place("space", &format!("name {k}")).unwrap();
    }
    Features::Hashed(hashed)
}

fn strange_names() -> Dictionary {
    Dictionary::from_names(["", "a\nb", "\"", "\\", "\u{0}", "ü=1", "name^x"]).unwrap()
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// The file with its digest put right.
fn sign(bytes: &mut [u8]) {
    bytes[DIGITS].fill(b'0');
    let digest = blake3::hash(bytes).to_hex();
    bytes[DIGITS].copy_from_slice(digest.as_bytes());
}

/// A file of this header and these bytes behind it, with the right digest.
fn file(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(data);
    sign(&mut bytes);
    bytes
}

/// The header of a file, without its padding.
fn header(bytes: &[u8]) -> &str {
    let (length, _) = SafeTensors::read_metadata(bytes).unwrap();
    std::str::from_utf8(&bytes[8..8 + length]).unwrap()
}

/// The file with another text about it.
fn with_about(bytes: &[u8], about: &str) -> Vec<u8> {
    let old = header(bytes);
    let before = r#"{"__metadata__":{"digest":""#.len() + 64 + r#"","geowalk":"#.len();
    let (_, metadata) = SafeTensors::read_metadata(bytes).unwrap();
    let text = Value::from(metadata.metadata().as_ref().unwrap()["geowalk"].as_str()).to_string();
    assert_eq!(&old[before..before + text.len()], text);
    let new = [&old[..before], &Value::from(about).to_string(), &old[before + text.len()..]];
    file(&new.concat(), &bytes[8 + old.len()..])
}

#[test]
fn every_kind_of_schema_comes_back() {
    for features in [
        index(),
        Features::Index(Index { base: 0, detected: false }),
        Features::Exact(strange_names()),
        Features::Exact(Dictionary::default()),
        Features::Hashed(Hashed::new(1).unwrap()),
        hashed(),
    ] {
        for labels in [Labels::Numbers, Labels::Names(strange_names())] {
            let old = model(features.clone(), labels);
            let bytes = old.to_bytes().unwrap();
            let new = Model::from_bytes(&bytes).unwrap();
            assert!(new.to_bytes().unwrap() == bytes, "the same model, the same bytes");
            let [settings, old_settings] = [&new, &old].map(|model| json!(model.settings));
            assert_eq!(settings, old_settings);
            assert!(new.settings.y_range.unwrap().0.is_sign_negative());
            assert_eq!(bits(&new.classes), bits(&old.classes));
            assert_eq!((new.examples, &new.summary), (old.examples, &old.summary));
            assert_eq!(new.schema.columns(), old.schema.columns());
            for ((name, values), (old_name, old_values)) in new.arrays.iter().zip(&old.arrays) {
                assert_eq!((name, bits(values)), (old_name, bits(old_values)));
            }
            for k in 0..20 {
                assert_eq!(new.schema.features().name(k), old.schema.features().name(k));
                let label = f64::from(k);
                assert_eq!(new.schema.labels().name(label), old.schema.labels().name(label));
            }
            match (new.schema.features(), old.schema.features()) {
                (Features::Index(new), Features::Index(old)) => assert_eq!(new, old),
                (Features::Exact(new), Features::Exact(old)) => assert_eq!(new.len(), old.len()),
                (Features::Hashed(new), Features::Hashed(old)) => {
                    assert_eq!(new.collisions(), old.collisions());
                    assert!(old.bits() == 1 || old.collisions().shared > 5);
                }
                _ => panic!("another kind of features"),
            }
        }
    }
}

/// Reads a text, on top of what an earlier reading knew.
fn schema_of(name: &str, text: String, known: Option<Schema>) -> Schema {
    let input = Input::text(name, text);
    let mut source = open(Options { schema: known, ..Options::new([input]) }).unwrap();
    let mut block = Block::new();
    while source.read(&mut block, 7).unwrap() > 0 {}
    source.schema().clone()
}

#[test]
fn a_schema_goes_on_where_it_stopped() {
    let row = |k: u32| match k * k % 11 {
        0 => format!("{k},red,yes\n"),
        c => format!("{k}.5,color {},class {}\n", c * k % 53, c % 4),
    };
    let vw = |k: u32| format!("{} |space a{} b{}:2 {k}\n", k % 2, k % 31, k * k);
    let svm = |k: u32| format!("{} {}:1\n", k % 2, k + 1);
    for (name, head, row) in [
        ("a.csv", "size,color,class\n", &row as &dyn Fn(u32) -> String),
        ("a.vw", "", &vw),
        ("a.svm", "", &svm),
    ] {
        let text = |rows: Range<u32>| rows.map(row).fold(head.to_owned(), |text, row| text + &row);
        let through_a_file = |schema: Schema| {
            let mut model = model(index(), Labels::Numbers);
            model.schema = schema;
            let bytes = model.to_bytes().unwrap();
            (Model::from_bytes(&bytes).unwrap().schema, bytes)
        };
        let (_, whole) = through_a_file(schema_of(name, text(0..2000), None));
        let (half, _) = through_a_file(schema_of(name, text(0..900), None));
        let (_, resumed) = through_a_file(schema_of(name, text(900..2000), Some(half)));
        assert!(resumed == whole, "{name}");
    }
}

#[test]
fn safetensors_alone_can_read_it() {
    let bytes = model(hashed(), Labels::Numbers).to_bytes().unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let w = tensors.tensor("w").unwrap();
    assert_eq!((w.dtype(), w.shape()), (safetensors::Dtype::F64, &[6][..]));
    let names: BTreeMap<String, String> =
        serde_json::from_slice(tensors.tensor("schema.names").unwrap().data()).unwrap();
    assert!(names.values().all(|name| name.starts_with("space^name ")));
    let (_, metadata) = SafeTensors::read_metadata(&bytes).unwrap();
    let texts = metadata.metadata().as_ref().unwrap();
    let about: Value = serde_json::from_str(&texts["geowalk"]).unwrap();
    assert_eq!(about["format"], FORMAT);
    assert_eq!(about["schema"]["features"]["bits"], 3);
    let mut again = bytes.clone();
    sign(&mut again);
    assert!(again == bytes, "the digest is what the document says");
}

#[test]
fn every_altered_byte_and_every_cut_is_refused() {
    for features in [index(), hashed()] {
        let bytes = model(features, Labels::Names(strange_names())).to_bytes().unwrap();
        for place in 0..bytes.len() {
            for change in [1, 0x20, 0x2a, 0x80, bytes[place] ^ b' ', bytes[place] ^ b'\n'] {
                let mut altered = bytes.clone();
                altered[place] ^= change;
                let refused = Model::from_bytes(&altered).is_err();
                assert_eq!(refused, change != 0, "byte {place} changed by {change:#x}");
            }
            let error = Model::from_bytes(&bytes[..place]).unwrap_err();
            let ModelError::Truncated { found, needed } = error else {
                panic!("cut at {place}: {error}");
            };
            assert!(found == place as u64 && needed > found && needed <= bytes.len() as u64);
        }
        for more in [&b" "[..], &[0; 8], &bytes] {
            let longer = [&bytes[..], more].concat();
            assert!(matches!(Model::from_bytes(&longer), Err(ModelError::Digest { .. })));
        }
    }
}

#[test]
fn the_errors_say_what_is_wrong() {
    let good = model(index(), Labels::Numbers);
    let bytes = good.to_bytes().unwrap();
    let told = |bytes: &[u8]| Model::from_bytes(bytes).unwrap_err().to_string();
    let not = "this is not a geowalk model; give a file that 'geowalk train --model' wrote";
    assert_eq!(told(b"1 3:0.5\n-1 2:1\n"), not);
    // A file of safetensors, but of somebody else.
    let other = file(
        r#"{"__metadata__":{"format":"pt"},"a":{"dtype":"U8","shape":[70],"data_offsets":[0,70]}}"#,
        &[0; 70],
    );
    assert_eq!(told(&other), not);
    assert_eq!(
        told(b""),
        "the model file ends after 0 bytes, at least 99 were written; copy it again"
    );
    let mut altered = bytes.clone();
    *altered.last_mut().unwrap() ^= 1;
    assert!(told(&altered).starts_with("the model file was altered: its digest is "));

    let (_, metadata) = SafeTensors::read_metadata(&bytes).unwrap();
    let about = metadata.metadata().as_ref().unwrap()["geowalk"].clone();
    let change = |from: &str, to: &str| {
        assert!(about.contains(from), "{about}");
        told(&with_about(&bytes, &about.replace(from, to)))
    };
    assert_eq!(
        change("\"format\":2", "\"format\":3"),
        "the model file has format 3, this geowalk knows up to 2; use a newer geowalk"
    );
    assert_eq!(
        change("\"task\":\"binary\"", "\"task\":\"chess\""),
        "the settings of the model cannot be read: 'chess' is not known"
    );
    assert_eq!(
        change("\"index\"", "\"exact\""),
        "the model has no 'schema.names', or not of the right kind"
    );
    assert_eq!(change("\"a\"]", "\"a\",\"b\"]"), "the model has no 'b', or not of the right kind");
    assert!(change("\"walk\":", "\"stroll\":").contains("missing field `walk`"));
    assert!(change("\"base\":1", "\"base\":-1").contains("'schema.features.base'"));
    assert!(change("\"classes\":[", "\"classes\":[1e999,").contains("'geowalk'"));
    assert!(told(&with_about(&bytes, "[]")).contains("'format'"));
    assert!(told(&with_about(&bytes, "?")).contains("'geowalk'"));

    let error = good.array("w", 7).unwrap_err();
    assert_eq!(error.to_string(), "the array 'w' of the model has 6 numbers; 7 are needed");
    assert!(matches!(good.array("v", 7), Err(ModelError::Missing { what }) if what == "v"));
}

#[test]
fn what_is_not_finite_or_not_unique_is_never_written() {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut bad = model(index(), Labels::Numbers);
        bad.arrays[0].1[4] = value;
        let error = bad.to_bytes().unwrap_err();
        assert!(error.to_string().starts_with(&format!("number 4 of 'w' is {value};")), "{error}");
        let mut bad = model(index(), Labels::Numbers);
        bad.classes[1] = value;
        match bad.to_bytes() {
            // A class that has not been seen.
            Ok(bytes) => {
                let again = Model::from_bytes(&bytes).unwrap();
                assert!(value.is_nan() && again.classes[1].is_nan());
            }
            Err(error) => assert!(matches!(error, ModelError::NotFinite { index: 1, .. })),
        }
        let mut bad = model(index(), Labels::Numbers);
        bad.settings.y_range = Some((value, 1.0));
        assert!(
            matches!(bad.to_bytes(), Err(ModelError::NotFinite { array, .. }) if array == "y_range")
        );
    }
    // Nor read: the last number of the file is array 'a'.
    let mut bytes = model(index(), Labels::Numbers).to_bytes().unwrap();
    let end = bytes.len();
    bytes[end - 8..].copy_from_slice(&f64::NAN.to_le_bytes());
    sign(&mut bytes);
    assert!(
        matches!(Model::from_bytes(&bytes), Err(ModelError::NotFinite { array, index: 0, .. }) if array == "a")
    );
    for name in ["w", "__metadata__", "schema.names", "schema.x"] {
        let mut bad = model(index(), Labels::Numbers);
        bad.arrays[1].0 = name.into();
        assert!(matches!(bad.to_bytes(), Err(ModelError::Name { name: found }) if found == name));
    }
    let mut bad = model(index(), Labels::Numbers);
    bad.summary = "x".repeat(100_000_000).into();
    assert!(matches!(bad.to_bytes(), Err(ModelError::Header { limit: 100_000_000, .. })));
}

#[test]
fn a_header_that_lies_gets_no_memory() {
    let start = format!(r#"{{"__metadata__":{{"digest":"{:064}","geowalk":"{{}}"}}"#, 0);
    let tensor = |shape: &str, end: u64| {
        format!(r#"{start},"w":{{"dtype":"F64","shape":[{shape}],"data_offsets":[0,{end}]}}}}"#)
    };
    let mut files = vec![
        file(&tensor("1000000000000", 8_000_000_000_000), &[0; 8]),
        file(&tensor("18446744073709551615,2", 16), &[0; 16]),
        file(&tensor("2", u64::MAX), &[0; 16]),
        file(&tensor("1", 16), &[0; 16]),
        file(&format!("{start},{}", "[".repeat(10_000)), &[]),
        file(&format!("{start}}}"), &[]),
    ];
    for length in [u64::MAX, u64::MAX - 7, 1 << 40, 99_999_999, 0] {
        let mut bytes = file(&format!("{start}}}"), &[]);
        bytes[..8].copy_from_slice(&length.to_le_bytes());
        files.push(bytes);
    }
    // A table of 2^22 prints is the most that a hash may ask for.
    let honest = model(hashed(), Labels::Numbers).to_bytes().unwrap();
    let (_, metadata) = SafeTensors::read_metadata(&honest).unwrap();
    let about = &metadata.metadata().as_ref().unwrap()["geowalk"];
    files.push(with_about(&honest, &about.replace("\"bits\":3", "\"bits\":1")));
    files.push(with_about(&honest, &about.replace("\"bits\":3", "\"bits\":4000000000")));
    for (k, bytes) in files.iter().enumerate() {
        let used = allocation_counter::measure(|| {
            assert!(Model::from_bytes(bytes).is_err(), "file {k}");
        });
        assert!(used.bytes_max < 1 << 20, "file {k}: {} bytes", used.bytes_max);
    }
}

#[test]
fn files_are_saved_and_loaded() {
    let folder: PathBuf =
        std::env::temp_dir().join(format!("geowalk-model-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("model.safetensors");
    let good = model(hashed(), Labels::Names(strange_names()));
    for _ in 0..2 {
        good.save(&path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), good.to_bytes().unwrap());
        assert_eq!(Model::load(&path).unwrap().to_bytes().unwrap(), good.to_bytes().unwrap());
    }
    let mut bad = good.clone();
    bad.arrays[3].1[0] = f64::NAN;
    assert!(bad.save(&path).is_err());
    assert_eq!(fs::read(&path).unwrap(), good.to_bytes().unwrap(), "the old file is intact");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    let none = folder.join("none").join("model");
    for error in [good.save(&none).unwrap_err(), Model::load(&none).unwrap_err()] {
        assert!(matches!(&error, ModelError::Io { path, .. } if *path == none), "{error}");
        assert!(error.to_string().starts_with(none.to_str().unwrap()));
    }
    assert!(matches!(Model::load(&folder), Err(ModelError::Io { .. })));
    fs::write(&path, "size,class\n".repeat(100)).unwrap();
    let error = Model::load(&path).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "{}: this is not a geowalk model; give a file that 'geowalk train --model' wrote",
            path.display()
        )
    );
    fs::remove_dir_all(folder).unwrap();
}

fn finite() -> impl Strategy<Value = f64> {
    any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |x| x.is_finite())
}

proptest! {
    #[test]
    fn any_model_comes_back(
        arrays in prop::collection::btree_map("[^s_].{0,5}", prop::collection::vec(finite(), 0..9000), 0..5),
        names in prop::collection::btree_set(any::<String>(), 0..9),
        classes in prop::collection::vec(finite(), 0..5),
        loss in finite(),
        extra in any::<String>(),
    ) {
        let names = Dictionary::from_names(names.iter().map(String::as_str)).unwrap();
        let mut old = model(Features::Exact(names.clone()), Labels::Names(names));
        // Not in the order of the names.
        old.arrays = arrays.into_iter().rev().collect();
        old.classes = classes;
        old.summary = json!({ "loss": loss, extra.clone(): [extra] });
        let bytes = old.to_bytes().unwrap();
        let new = Model::from_bytes(&bytes).unwrap();
        prop_assert_eq!(bits(&new.classes), bits(&old.classes));
        prop_assert_eq!(new.summary["loss"].as_f64().map(f64::to_bits), Some(loss.to_bits()));
        prop_assert_eq!(new.arrays.len(), old.arrays.len());
        for ((name, values), (old_name, old_values)) in new.arrays.iter().zip(&old.arrays) {
            prop_assert_eq!((name, bits(values)), (old_name, bits(old_values)));
        }
        prop_assert_eq!(new.to_bytes().unwrap(), bytes);
    }

    #[test]
    fn any_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(Model::from_bytes(&bytes).is_err());
        let begun = [&120_u64.to_le_bytes()[..], br#"{"__metadata__":{"digest":""#, &[b'0'; 64], &bytes].concat();
        prop_assert!(Model::from_bytes(&begun).is_err());
    }

    /// Somebody who can compute a digest may write anything; it is read or refused, without a panic.
    #[test]
    fn forged_files_do_not_panic(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        kept in prop::sample::select(vec!["[", "{", "}", "]", "null", "-1", "1e400", "\"", "0.5", "99999999999"]),
        place in any::<prop::sample::Index>(),
    ) {
        let mut bytes = model(hashed(), Labels::Names(strange_names())).to_bytes().unwrap();
        let (_, metadata) = SafeTensors::read_metadata(&bytes).unwrap();
        let about = metadata.metadata().as_ref().unwrap()["geowalk"].clone();
        let place = (0..=place.index(about.len())).rev().find(|k| about.is_char_boundary(*k)).unwrap();
        let end = about[place..].find([',', ':', '}']).map_or(about.len(), |k| place + k);
        let forged = [&about[..place], kept, &about[end..]].concat();
        let _ = Model::from_bytes(&with_about(&bytes, &forged));
        for (index, value) in edits {
            let place = DIGITS.end + index.index(bytes.len() - DIGITS.end);
            bytes[place] = value;
        }
        sign(&mut bytes);
        let _ = Model::from_bytes(&bytes);
    }
}
