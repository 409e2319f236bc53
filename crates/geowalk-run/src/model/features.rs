//! # Names of features
//! There may be millions of names, so they are stored in arrays and not in the header. `schema.names` holds JSON text
//! as bytes. For a dictionary it is the list of names. For hashed features it maps indices to the known names; further
//! arrays hold the data behind the count of collisions.

use std::collections::BTreeMap;

use geowalk_data::{Dictionary, Features, Hashed, Index};
use safetensors::Dtype;
use serde_json::{Value, json};

use super::about::{About, u32_of};
use super::container::{Data, File, Tensor};
use super::error::ModelError;

const NAMES: &str = "schema.names";
const PLACES: &str = "schema.places";
const PRINTS: &str = "schema.prints";
const STRANGERS: &str = "schema.strangers";

/// The encoded names of the features.
pub(super) enum Names {
    Index,
    Exact { text: Vec<u8> },
    Hashed { text: Vec<u8>, places: Vec<u32>, prints: Vec<u16>, strangers: Vec<u64> },
}

impl Names {
    pub(super) fn of(features: &Features) -> Result<Self, ModelError> {
        let text = match features {
            Features::Index(_) => return Ok(Self::Index),
            Features::Exact(names) => serde_json::to_vec(&names.names().collect::<Vec<_>>()),
            Features::Hashed(hashed) => by_place(hashed),
        };
        let text = text.map_err(|_| missing())?;
        Ok(match features {
            Features::Hashed(hashed) => {
                let (places, prints) = hashed.prints().unzip();
                Self::Hashed { text, places, prints, strangers: hashed.strangers() }
            }
            _ => Self::Exact { text },
        })
    }

    /// The arrays, those with larger elements first.
    pub(super) fn tensors(&self) -> Vec<Tensor<'_>> {
        match self {
            Self::Index => Vec::new(),
            Self::Exact { text } => vec![Tensor { name: NAMES, data: Data::U8(text) }],
            Self::Hashed { text, places, prints, strangers } => vec![
                Tensor { name: STRANGERS, data: Data::U64(strangers) },
                Tensor { name: PLACES, data: Data::U32(places) },
                Tensor { name: PRINTS, data: Data::U16(prints) },
                Tensor { name: NAMES, data: Data::U8(text) },
            ],
        }
    }
}

/// The names as a JSON object with their indices as keys. Written one by one, without building a map in memory.
fn by_place(hashed: &Hashed) -> serde_json::Result<Vec<u8>> {
    let mut text = Vec::with_capacity(24 * hashed.known() + 2);
    text.push(b'{');
    for (place, name) in hashed.names() {
        if text.len() > 1 {
            text.push(b',');
        }
        text.push(b'"');
        serde_json::to_writer(&mut text, &place)?;
        text.extend_from_slice(b"\":");
        serde_json::to_writer(&mut text, name)?;
    }
    text.push(b'}');
    Ok(text)
}

fn missing() -> ModelError {
    ModelError::Missing { what: NAMES.to_owned() }
}

/// The description of the features in the header.
pub(super) fn describe(features: &Features) -> Value {
    match features {
        Features::Index(Index { base, detected }) => {
            json!({ "kind": "index", "base": base, "detected": detected })
        }
        Features::Exact(names) => json!({ "kind": "exact", "names": names.len() }),
        Features::Hashed(hashed) => {
            let collisions = hashed.collisions();
            json!({
                "kind": "hashed",
                "bits": hashed.bits(),
                "names": hashed.known(),
                "collisions": {
                    "names": collisions.names,
                    "shared": collisions.shared,
                    "exact": collisions.exact,
                    "every": collisions.every,
                },
            })
        }
    }
}

/// Reads the features of a model file.
pub(super) fn read(file: &File<'_>, about: &About) -> Result<Features, ModelError> {
    const KIND: &str = "/schema/features/kind";
    match about.at(KIND, Value::as_str)? {
        "index" => Ok(Features::Index(Index {
            base: about.at("/schema/features/base", u32_of)?,
            detected: about.at("/schema/features/detected", Value::as_bool)?,
        })),
        "exact" => {
            let names = file.bytes(NAMES, Dtype::U8)?;
            let names: Vec<String> = serde_json::from_slice(names).map_err(|_| missing())?;
            let names = names.iter().map(String::as_str);
            Ok(Features::Exact(Dictionary::from_names(names)?))
        }
        "hashed" => {
            let bits = about.at("/schema/features/bits", u32_of)?;
            let names = file.bytes(NAMES, Dtype::U8)?;
            let names: BTreeMap<u32, String> =
                serde_json::from_slice(names).map_err(|_| missing())?;
            let places = file.items(PLACES, Dtype::U32, u32::from_le_bytes)?;
            let prints = file.items(PRINTS, Dtype::U16, u16::from_le_bytes)?;
            if places.len() != prints.len() {
                let (found, expected) = (prints.len(), places.len());
                return Err(ModelError::Length { array: PRINTS.to_owned(), found, expected });
            }
            let strangers = file.items(STRANGERS, Dtype::U64, u64::from_le_bytes)?;
            let hashed = Hashed::from_parts(bits, names)?;
            Ok(Features::Hashed(hashed.remember(places.into_iter().zip(prints), strangers)?))
        }
        _ => about.at(KIND, |_| None),
    }
}
