//! The cells of a column in a record batch.

use std::fmt::Write;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type,
    Decimal256Type, DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType,
    DurationSecondType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
    Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, BooleanArray, LargeBinaryArray,
    LargeStringArray, OffsetSizeTrait, StringArray, StringViewArray,
};
use arrow_schema::{DataType, TimeUnit};

use crate::date::Date;
use crate::formats::table::{Cell, List, Values};

/// Checks that a type can be read. The error is advice.
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
        T::Timestamp(..) | T::Date32 | T::Date64 | T::Time32(_) | T::Time64(_) | T::Duration(_) => {
            Ok(())
        }
        found if found.is_decimal() => Ok(()),
        found if is_words(found) => Ok(()),
        T::Interval(_) => Err("write it as a number, such as seconds"),
        T::FixedSizeBinary(_) => Err("cast it to text if it is text"),
        T::RunEndEncoded(..) => Err("write it without run-end encoding"),
        _ => Err("write each part as a column of its own"),
    }
}

/// Whether this is a text type. Bytes count as text, because Parquet files of some writers do not distinguish them.
pub(super) fn is_text(found: &DataType) -> bool {
    use DataType as T;
    matches!(
        found,
        T::Utf8 | T::LargeUtf8 | T::Utf8View | T::Binary | T::LargeBinary | T::BinaryView
    )
}

/// Whether this is a type of lists of text.
pub(super) fn is_words(found: &DataType) -> bool {
    use DataType as T;
    match found {
        T::List(items) | T::LargeList(items) | T::FixedSizeList(items, _) => {
            match items.data_type() {
                T::Dictionary(_, values) => is_text(values),
                items => is_text(items),
            }
        }
        _ => false,
    }
}

/// The cells of a column, prepared for access by row.
pub(super) enum Cells {
    /// All cells are missing.
    Missing,
    Numbers {
        values: Vec<f64>,
        /// The array of the column, if some cells are missing.
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
    Bytes(BinaryArray),
    LargeBytes(LargeBinaryArray),
    ViewBytes(BinaryViewArray),
    Bools(BooleanArray),
    /// Cells given by keys into a dictionary.
    Coded {
        keys: Vec<usize>,
        nulls: Option<ArrayRef>,
        values: Box<Cells>,
    },
    /// Lists of text; list `k` ends at index `ends[k]` of the values.
    Lists {
        start: usize,
        ends: Vec<usize>,
        nulls: Option<ArrayRef>,
        values: Box<Cells>,
    },
}

/// Calls `$with` with the typed array of the column, if it is a column of numbers.
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

/// Calls [`widened`] with the array type and the factor that converts the time unit to seconds.
macro_rules! seconds {
    ($array:expr, $unit:expr, $second:ident, $milli:ident, $micro:ident, $nano:ident) => {
        match $unit {
            TimeUnit::Second => widened::<$second>($array, |x| x as f64),
            TimeUnit::Millisecond => widened::<$milli>($array, |x| x as f64 / 1e3),
            TimeUnit::Microsecond => widened::<$micro>($array, |x| x as f64 / 1e6),
            TimeUnit::Nanosecond => widened::<$nano>($array, |x| x as f64 / 1e9),
        }
    };
}

/// Days as dates in text form; days outside the calendar stay numbers.
fn dated(days: Cells, numbers: Cells) -> Cells {
    let (Cells::Numbers { values: days, nulls }, Cells::Numbers { values, .. }) = (days, numbers)
    else {
        return Cells::Missing;
    };
    let (mut text, mut ends) = (String::new(), Vec::with_capacity(days.len()));
    for (days, number) in days.into_iter().zip(values) {
        let date = Date::of_days(days);
        text += &date.map_or_else(|| number.to_string(), Date::text);
        ends.push(text.len());
    }
    Cells::Written { text, ends, nulls }
}

/// Whether the type is a date or a timestamp.
pub(super) fn is_date(found: &DataType) -> bool {
    matches!(found, DataType::Date32 | DataType::Date64 | DataType::Timestamp(..))
}

/// Converts dates to days since 1970-01-01, times and durations to seconds, timestamps to seconds since 1970-01-01
/// (UTC), and decimals to the nearest number.
fn measured(array: &ArrayRef) -> Cells {
    use DataType as T;
    match array.data_type() {
        T::Date32 => widened::<Date32Type>(array, f64::from),
        T::Date64 => widened::<Date64Type>(array, |milli| milli as f64 / 86_400_000.0),
        T::Time32(TimeUnit::Second) => widened::<Time32SecondType>(array, f64::from),
        T::Time32(_) => widened::<Time32MillisecondType>(array, |x| f64::from(x) / 1e3),
        T::Time64(TimeUnit::Microsecond) => {
            widened::<Time64MicrosecondType>(array, |x| x as f64 / 1e6)
        }
        T::Time64(_) => widened::<Time64NanosecondType>(array, |x| x as f64 / 1e9),
        T::Timestamp(unit, _) => seconds!(
            array,
            unit,
            TimestampSecondType,
            TimestampMillisecondType,
            TimestampMicrosecondType,
            TimestampNanosecondType
        ),
        T::Duration(unit) => seconds!(
            array,
            unit,
            DurationSecondType,
            DurationMillisecondType,
            DurationMicrosecondType,
            DurationNanosecondType
        ),
        T::Decimal32(_, scale) => decimals::<Decimal32Type>(array, *scale),
        T::Decimal64(_, scale) => decimals::<Decimal64Type>(array, *scale),
        T::Decimal128(_, scale) => decimals::<Decimal128Type>(array, *scale),
        T::Decimal256(_, scale) => decimals::<Decimal256Type>(array, *scale),
        _ => Cells::Missing,
    }
}

/// Converts decimals through their text, which gives the nearest number at any precision.
fn decimals<T: ArrowPrimitiveType>(array: &ArrayRef, scale: i8) -> Cells
where
    T::Native: std::fmt::Display,
{
    let Some(own) = array.as_primitive_opt::<T>() else { return Cells::Missing };
    let mut text = String::new();
    let nearest = |x: &T::Native| {
        text.clear();
        let _ = write!(text, "{x}e{}", -i16::from(scale)); // writing to a string cannot fail
        text.parse().unwrap_or(f64::NAN)
    };
    Cells::Numbers { values: own.values().iter().map(nearest).collect(), nulls: nulls(array) }
}

/// Numbers as text.
fn spelled(cells: Cells) -> Cells {
    let Cells::Numbers { values, nulls } = cells else { return cells };
    let (mut text, mut ends) = (String::new(), Vec::with_capacity(values.len()));
    for x in values {
        let _ = write!(text, "{x}"); // writing to a string cannot fail
        ends.push(text.len());
    }
    Cells::Written { text, ends, nulls }
}

/// Lists of variable length.
fn listed<O: OffsetSizeTrait>(array: &ArrayRef) -> Cells {
    let Some(own) = array.as_list_opt::<O>() else { return Cells::Missing };
    let mut ends = own.value_offsets().iter().map(|offset| offset.as_usize());
    let start = ends.next().unwrap_or(0);
    lists(array, own.values(), start, ends.collect())
}

/// Lists that end at the given indices of `values`.
fn lists(array: &ArrayRef, values: &ArrayRef, start: usize, ends: Vec<usize>) -> Cells {
    Cells::Lists { start, ends, nulls: nulls(array), values: Box::new(Cells::new(values, true)) }
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
        let _ = write!(text, "{x}"); // writing to a string cannot fail
        ends.push(text.len());
    }
    Cells::Written { text, ends, nulls: nulls(array) }
}

impl Cells {
    /// The cells of a column; with `as_text`, numbers become text.
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
            DataType::Binary => array.as_binary_opt().cloned().map_or(Self::Missing, Self::Bytes),
            DataType::LargeBinary => {
                array.as_binary_opt().cloned().map_or(Self::Missing, Self::LargeBytes)
            }
            DataType::BinaryView => {
                array.as_binary_view_opt().cloned().map_or(Self::Missing, Self::ViewBytes)
            }
            DataType::List(_) => listed::<i32>(array),
            DataType::LargeList(_) => listed::<i64>(array),
            DataType::FixedSizeList(_, width) => {
                array.as_fixed_size_list_opt().map_or(Self::Missing, |own| {
                    let width = usize::try_from(*width).unwrap_or(0);
                    let ends = (1..=own.len()).map(|k| k * width).collect();
                    lists(array, own.values(), 0, ends)
                })
            }
            DataType::Boolean => array.as_boolean_opt().cloned().map_or(Self::Missing, Self::Bools),
            found if !found.is_integer() && !found.is_floating() => match measured(array) {
                cells if as_text && is_date(found) => dated(Self::days(array), cells),
                cells if as_text => spelled(cells),
                cells => cells,
            },
            _ if as_text => numbers!(array, written),
            _ => numbers!(array, widened),
        }
    }

    /// The cells of a date column as days since 1970-01-01; texts are unchanged.
    pub(super) fn days(array: &ArrayRef) -> Self {
        let mut cells = Self::new(array, false);
        if let (DataType::Timestamp(..), Self::Numbers { values, .. }) =
            (array.data_type(), &mut cells)
        {
            for seconds in values {
                *seconds /= 86_400.0;
            }
        }
        cells
    }

    /// The cell of a row.
    #[inline]
    pub(super) fn get(&self, row: usize) -> Cell<'_> {
        let is_null = |nulls: &Option<ArrayRef>| {
            nulls.as_ref().is_some_and(|array| row >= array.len() || array.is_null(row))
        };
        match self {
            Self::Numbers { nulls, .. }
            | Self::Written { nulls, .. }
            | Self::Coded { nulls, .. }
            | Self::Lists { nulls, .. }
                if is_null(nulls) =>
            {
                Cell::Missing
            }
            Self::Numbers { values, .. } => {
                // pandas writes NaN for a missing number.
                let known = values.get(row).filter(|value| !value.is_nan());
                known.map_or(Cell::Missing, |&value| Cell::Number(value))
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
            Self::Bytes(array) if row < array.len() && array.is_valid(row) => {
                Cell::Text(array.value(row))
            }
            Self::LargeBytes(array) if row < array.len() && array.is_valid(row) => {
                Cell::Text(array.value(row))
            }
            Self::ViewBytes(array) if row < array.len() && array.is_valid(row) => {
                Cell::Text(array.value(row))
            }
            Self::Lists { start, ends, values, .. } => {
                let start = if row == 0 { Some(start) } else { ends.get(row - 1) };
                match (start, ends.get(row)) {
                    (Some(&start), Some(&end)) => Cell::List(List { cells: &**values, start, end }),
                    _ => Cell::Missing,
                }
            }
            Self::Missing
            | Self::Text(_)
            | Self::LargeText(_)
            | Self::ViewText(_)
            | Self::Bytes(_)
            | Self::LargeBytes(_)
            | Self::ViewBytes(_)
            | Self::Bools(_) => Cell::Missing,
        }
    }
}

impl Values for Cells {
    fn value(&self, k: usize) -> Cell<'_> {
        self.get(k)
    }
}
