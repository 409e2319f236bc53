//! The cells of a column of a batch.

use std::fmt::Write;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BooleanArray, LargeStringArray, StringArray, StringViewArray};
use arrow_schema::DataType;

use crate::formats::table::Cell;

/// Can this type be read? If not, what to do.
pub(super) fn check(found: &DataType) -> Result<(), &'static str> {
    use DataType as T;
    match found {
        T::Null | T::Boolean => Ok(()),
        found if found.is_integer() || found.is_floating() || is_text(found) => Ok(()),
        T::Dictionary(_, values) => match check(values) {
            Ok(()) if !matches!(**values, T::Dictionary(..)) => Ok(()),
            Ok(()) => Err("write it as plain text"),
            Err(advice) => Err(advice),
        },
        T::Timestamp(..) | T::Date32 | T::Date64 => Err(
            "write what matters of it as a number (days since the first, hour of the day, day of the week)",
        ),
        T::Time32(_) | T::Time64(_) | T::Duration(_) | T::Interval(_) => {
            Err("write it as a number, such as seconds")
        }
        found if found.is_decimal() => Err("cast it to double"),
        T::Binary | T::LargeBinary | T::BinaryView | T::FixedSizeBinary(_) => {
            Err("cast it to text if it is text")
        }
        T::RunEndEncoded(..) => Err("write it without run-end encoding"),
        _ => Err("write each part as a column of its own"),
    }
}

/// Is it a type of text?
pub(super) fn is_text(found: &DataType) -> bool {
    matches!(found, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// The cells of a column, ready to be asked for one by one.
pub(super) enum Cells {
    /// Nothing but missing ones.
    Missing,
    Numbers {
        values: Vec<f64>,
        /// The column, if some are missing.
        nulls: Option<ArrayRef>,
    },
    /// Numbers as text; value `k` ends at `ends[k]`.
    Written {
        text: String,
        ends: Vec<usize>,
        nulls: Option<ArrayRef>,
    },
    Text(StringArray),
    LargeText(LargeStringArray),
    ViewText(StringViewArray),
    Bools(BooleanArray),
    /// By dictionary.
    Coded {
        keys: Vec<usize>,
        nulls: Option<ArrayRef>,
        values: Box<Cells>,
    },
}

/// Calls `$with` with the column as an array of its own type, if it is one of numbers.
macro_rules! numbers {
    ($array:expr, $with:ident) => {
        match $array.data_type() {
            DataType::Int8 => $with::<Int8Type>($array, f64::from),
            DataType::Int16 => $with::<Int16Type>($array, f64::from),
            DataType::Int32 => $with::<Int32Type>($array, f64::from),
            DataType::Int64 => $with::<Int64Type>($array, |x| x as f64),
            DataType::UInt8 => $with::<UInt8Type>($array, f64::from),
            DataType::UInt16 => $with::<UInt16Type>($array, f64::from),
            DataType::UInt32 => $with::<UInt32Type>($array, f64::from),
            DataType::UInt64 => $with::<UInt64Type>($array, |x| x as f64),
            DataType::Float16 => $with::<Float16Type>($array, f64::from),
            DataType::Float32 => $with::<Float32Type>($array, f64::from),
            DataType::Float64 => $with::<Float64Type>($array, |x| x),
            _ => Cells::Missing,
        }
    };
}

fn nulls(array: &ArrayRef) -> Option<ArrayRef> {
    (array.null_count() > 0).then(|| array.clone())
}

fn widened<T: ArrowPrimitiveType>(array: &ArrayRef, wide: fn(T::Native) -> f64) -> Cells {
    let Some(own) = array.as_primitive_opt::<T>() else { return Cells::Missing };
    let values = own.values().iter().map(|&x| wide(x)).collect();
    Cells::Numbers { values, nulls: nulls(array) }
}

fn written<T: ArrowPrimitiveType>(array: &ArrayRef, _: fn(T::Native) -> f64) -> Cells
where
    T::Native: std::fmt::Display,
{
    let Some(own) = array.as_primitive_opt::<T>() else { return Cells::Missing };
    let (mut text, mut ends) = (String::new(), Vec::with_capacity(own.len()));
    for x in own.values() {
        let _ = write!(text, "{x}"); // a string takes everything
        ends.push(text.len());
    }
    Cells::Written { text, ends, nulls: nulls(array) }
}

impl Cells {
    /// The cells of a column; numbers as text if asked for.
    pub(super) fn new(array: &ArrayRef, as_text: bool) -> Self {
        if let Some(coded) = array.as_any_dictionary_opt() {
            if coded.values().is_empty() {
                return Self::Missing;
            }
            return Self::Coded {
                keys: coded.normalized_keys(),
                nulls: nulls(array),
                values: Box::new(Self::new(coded.values(), true)),
            };
        }
        match array.data_type() {
            DataType::Utf8 => array.as_string_opt().cloned().map_or(Self::Missing, Self::Text),
            DataType::LargeUtf8 => {
                array.as_string_opt().cloned().map_or(Self::Missing, Self::LargeText)
            }
            DataType::Utf8View => {
                array.as_string_view_opt().cloned().map_or(Self::Missing, Self::ViewText)
            }
            DataType::Boolean => array.as_boolean_opt().cloned().map_or(Self::Missing, Self::Bools),
            _ if as_text => numbers!(array, written),
            _ => numbers!(array, widened),
        }
    }

    /// The cell of a row.
    #[inline]
    pub(super) fn get(&self, row: usize) -> Cell<'_> {
        let is_null = |nulls: &Option<ArrayRef>| {
            nulls.as_ref().is_some_and(|array| row >= array.len() || array.is_null(row))
        };
        match self {
            Self::Missing => Cell::Missing,
            Self::Numbers { nulls, .. }
            | Self::Written { nulls, .. }
            | Self::Coded { nulls, .. }
                if is_null(nulls) =>
            {
                Cell::Missing
            }
            Self::Numbers { values, .. } => {
                values.get(row).map_or(Cell::Missing, |&value| Cell::Number(value))
            }
            Self::Written { text, ends, .. } => {
                let start = if row == 0 { 0 } else { ends.get(row - 1).copied().unwrap_or(0) };
                let end = ends.get(row).copied().unwrap_or(start);
                text.get(start..end).map_or(Cell::Missing, |text| Cell::Text(text.as_bytes()))
            }
            Self::Coded { keys, values, .. } => {
                keys.get(row).map_or(Cell::Missing, |&key| values.get(key))
            }
            Self::Text(array) if row < array.len() && array.is_valid(row) => {
                Cell::Text(array.value(row).as_bytes())
            }
            Self::LargeText(array) if row < array.len() && array.is_valid(row) => {
                Cell::Text(array.value(row).as_bytes())
            }
            Self::ViewText(array) if row < array.len() && array.is_valid(row) => {
                Cell::Text(array.value(row).as_bytes())
            }
            Self::Bools(array) if row < array.len() && array.is_valid(row) => {
                Cell::Text(if array.value(row) { b"true" } else { b"false" })
            }
            Self::Text(_) | Self::LargeText(_) | Self::ViewText(_) | Self::Bools(_) => {
                Cell::Missing
            }
        }
    }
}
