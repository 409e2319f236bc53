//! # Dates
//! A column of dates becomes four columns: month and weekday, which repeat; the year, which does not; and the elapsed
//! time.
//!
//! | column | content |
//! |---|---|
//! | `day.year`, `day.month` | numbers; months from 1 |
//! | `day.weekday` | a name, `Mon` to `Sun` |
//! | `day.days` | days since 1970-01-01, with the time of day as a fraction |
//!
//! **Formats** `2024-01-31`, `2024/01/31` and `31.01.2024` are unambiguous. `1/2/2024` is ambiguous and remains a
//! name. A time may follow after a space or `T`: `14:30`, `14:30:15`, `14:30:15.25`, optionally with `Z` or an offset
//! such as `+01:00`, which is subtracted. The calendar is the Gregorian one, from year 1 to 9999.

use crate::sink::Typed;

/// A date with a time of day.
///
/// ```
/// use geowalk_data::Date;
/// let date = Date::parse(b"2024-02-29 12:00").unwrap();
/// assert_eq!(Some(date), Date::of_days(19_782.5));
/// assert!(Date::parse(b"1/2/2024").is_none());
/// let weekday = ("day.weekday".to_owned(), Some("Thu"), 1.0);
/// assert!(date.features("day").contains(&weekday));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Date {
    year: f64,
    month: f64,
    day: i64,
    weekday: &'static str,
    /// Days since 1970-01-01.
    days: f64,
}

/// Names of the parts of a date, appended to the name of its column.
pub(crate) const PARTS: [&str; 4] = ["year", "month", "weekday", "days"];

/// The days of the week, beginning with that of 1970-01-01.
const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];

/// The days in 400 years, and the days from 0000-03-01 to 1970-01-01.
const ERA: i64 = 146_097;
const EPOCH: i64 = 719_468;

/// The range of supported dates, 0001-01-01 to 9999-12-31, in days since 1970-01-01.
const RANGE: std::ops::Range<f64> = -719_162.0..2_932_897.0;

impl Date {
    /// Names of the parts of a date, appended to the name of its column.
    pub const PARTS: [&str; 4] = PARTS;

    /// Parses `2024-01-31`, `2024/01/31` or `31.01.2024`, with or without a time; `None` for any other text.
    pub fn parse(text: &[u8]) -> Option<Self> {
        // Most texts are not dates.
        if text.len() < 8 || !text[0].is_ascii_digit() {
            return None;
        }
        let end = text.iter().position(|c| matches!(c, b' ' | b'T')).unwrap_or(text.len());
        let (day, time) = text.split_at(end);
        let mark = *day.iter().find(|c| !c.is_ascii_digit())?;
        let mut parts = day.split(|c| *c == mark);
        let (a, b, c) = (parts.next()?, parts.next()?, parts.next()?);
        let (year, month, day) = match (mark, a.len(), c.len()) {
            (b'-' | b'/', 4, 1..=2) => (a, b, c),
            (b'.', 1..=2, 4) => (c, b, a),
            _ => return None,
        };
        if parts.next().is_some() || b.len() > 2 {
            return None;
        }
        let days = days(whole(year)?, whole(month)?, whole(day)?)?;
        let seconds = if time.is_empty() { 0.0 } else { seconds(&time[1..])? };
        Self::of_days(days + seconds / 86_400.0)
    }

    /// The date as `2024-01-31`, or with a time as `2024-01-31 14:30:15`, rounded to seconds.
    pub fn text(self) -> String {
        let Self { year, month, day, days, .. } = self;
        let seconds = ((days - days.floor()) * 86_400.0).round();
        let text = format!("{year:04}-{month:02}-{day:02}");
        if seconds == 0.0 {
            return text;
        }
        let (hours, minutes) = ((seconds / 3600.0).floor(), (seconds / 60.0).floor() % 60.0);
        format!("{text} {hours:02}:{minutes:02}:{:02}", seconds % 60.0)
    }

    /// For each part of a date: its name in the column, its value if that is a name, and its number.
    pub fn features(self, column: &str) -> [(String, Option<&'static str>, f64); 4] {
        let parts =
            [(None, self.year), (None, self.month), (Some(self.weekday), 1.0), (None, self.days)];
        let mut parts = parts.into_iter();
        PARTS.map(|part| {
            let (name, number) = parts.next().unwrap_or((None, 0.0));
            (format!("{column}.{part}"), name, number)
        })
    }

    /// The cells of the [`PARTS`].
    pub(crate) fn cells(self) -> [Typed<'static>; 4] {
        let weekday = Typed::Name(self.weekday.as_bytes());
        [Typed::Number(self.year), Typed::Number(self.month), weekday, Typed::Number(self.days)]
    }

    /// The date this number of days after 1970-01-01; `None` outside the years 1 to 9999.
    #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
    pub fn of_days(days: f64) -> Option<Self> {
        if !RANGE.contains(&days) {
            return None;
        }
        let whole = days.floor() as i64;
        let day = whole + EPOCH;
        let (era, of_era) = (day.div_euclid(ERA), day.rem_euclid(ERA));
        // Years begin in March, so that a leap day is the last day of its year.
        let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 3 } else { month - 9 };
        let year = era * 400 + year + i64::from(month <= 2);
        let weekday = WEEKDAYS[usize::try_from(whole.rem_euclid(7)).unwrap_or(0)];
        Some(Self { year: year as f64, month: month as f64, day, weekday, days })
    }
}

fn whole(digits: &[u8]) -> Option<i64> {
    if digits.is_empty() || digits.len() > 4 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(digits.iter().fold(0, |sum, digit| 10 * sum + i64::from(digit - b'0')))
}

/// Days since 1970-01-01; `None` if the day does not exist.
fn days(year: i64, month: i64, day: i64) -> Option<f64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=length).contains(&day) || year < 1 {
        return None;
    }
    let year = year - i64::from(month <= 2);
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let of_era = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    Some((era * ERA + of_era - EPOCH) as f64)
}

/// Seconds of a time of day, minus its offset; `None` if it is invalid.
fn seconds(time: &[u8]) -> Option<f64> {
    let zone = time.iter().position(|c| matches!(c, b'Z' | b'+' | b'-')).unwrap_or(time.len());
    let (time, zone) = (time[..zone].trim_ascii(), &time[zone..]);
    let clock = |text: &[u8], most: i64| {
        let mut parts = text.split(|c| *c == b':');
        let (hours, minutes) = (parts.next()?, parts.next()?);
        let (hours, minutes) = (whole(hours)?, whole(minutes)?);
        let seconds = parts.next().unwrap_or(b"0");
        let (second, fraction) = match seconds.iter().position(|c| *c == b'.') {
            Some(at) => (&seconds[..at], &seconds[at + 1..]),
            None => (seconds, &b"0"[..]),
        };
        let fits = hours <= most && minutes < 60 && parts.next().is_none();
        let digits = fraction.iter().all(u8::is_ascii_digit) && (1..=9).contains(&fraction.len());
        let second = whole(second).filter(|second| *second < 61 && fits && digits)?;
        let fraction = fraction.iter().rev().fold(0.0, |sum, c| (sum + f64::from(c - b'0')) / 10.0);
        Some((3600 * hours + 60 * minutes + second) as f64 + fraction)
    };
    let offset = match zone {
        [] | [b'Z'] => 0.0,
        [sign, rest @ ..] => {
            let offset = match rest {
                [_, _] => 3600.0 * whole(rest)? as f64,
                [a, b, c, d] => clock(&[*a, *b, b':', *c, *d], 14)?,
                rest => clock(rest, 14)?,
            };
            if *sign == b'-' { -offset } else { offset }
        }
    };
    Some(clock(time, 23)? - offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_in_their_forms() {
        let parts = |text: &str| {
            let date = Date::parse(text.as_bytes());
            date.map(|date| (date.year, date.month, date.weekday, date.days))
        };
        let day = Some((2024.0, 2.0, "Thu", 19_782.0));
        for text in ["2024-02-29", "2024/02/29", "29.02.2024", "29.2.2024", "2024-02-29T00:00:00Z"]
        {
            assert_eq!(parts(text), day, "{text}");
            assert_eq!(Date::parse(text.as_bytes()).unwrap().text(), "2024-02-29");
        }
        let text = |text: &str| Date::parse(text.as_bytes()).unwrap().text();
        assert_eq!(text("03.01.0987 04:05:06.2"), "0987-01-03 04:05:06");
        assert_eq!(parts("1970-01-01"), Some((1970.0, 1.0, "Thu", 0.0)));
        assert_eq!(parts("1969-12-31 12:00"), Some((1969.0, 12.0, "Wed", -0.5)));
        assert_eq!(parts("0001-01-01"), Some((1.0, 1.0, "Mon", -719_162.0)));
        assert_eq!(parts("9999-12-31 18:00:00"), Some((9999.0, 12.0, "Fri", 2_932_896.75)));
        assert_eq!(parts("2024-02-29 01:30:00+01:30"), day);
        assert_eq!(parts("2024-02-28T22:00:00.000-0200"), day);
        assert_eq!(
            parts("2024-02-29 12:00:00.5"),
            Some((2024.0, 2.0, "Thu", 19_782.0 + 43_200.5 / 86_400.0))
        );
        for text in [
            "2023-02-29",
            "2024-13-01",
            "2024-00-10",
            "1/2/2024",
            "2024-2",
            "20240229",
            "2024-02-29x",
            "2024-02-29 25:00",
            "2024-02-29 ",
            "0000-01-01",
            "2024-02-29-01",
            "2024.02.29",
            "29-02-2024",
            "2024-02-29T",
            "2024-02-29 1",
            "12345678",
            "2024-02-29 10:00:00.",
            "10000-01-01",
        ] {
            assert_eq!(parts(text), None, "{text}");
        }
    }

    #[test]
    fn every_day_follows_the_one_before() {
        let mut before = Date::of_days(-719_162.0).unwrap();
        for day in -719_161..2_932_897 {
            let date = Date::of_days(f64::from(day)).unwrap();
            let next_month = date.month == before.month % 12.0 + 1.0;
            assert!(date.month == before.month && date.year == before.year || next_month);
            assert_ne!(date.weekday, before.weekday);
            before = date;
        }
        assert_eq!((before.year, before.month), (9999.0, 12.0));
        assert!(Date::of_days(2_932_897.0).is_none() && Date::of_days(f64::NAN).is_none());
    }
}
