//! # What the values of a column look like
//! Counts numbers and dates in the sample whose form is not understood. A front end warns about them.

/// For each form, the number of values of a column in the sample that have it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Looks {
    /// Values that are not missing.
    pub values: usize,
    /// Digits beginning with a zero, such as a postal code.
    pub leading_zeros: usize,
    /// Numbers with a decimal comma or comma-separated thousands.
    pub commas: usize,
    /// Numbers with a point.
    pub points: usize,
    /// Numbers with three digits after each point, and not 0 before the first.
    pub thousands: usize,
    /// Numbers with a percent sign.
    pub percents: usize,
    /// Numbers with the sign or the code of a currency.
    pub currencies: usize,
    /// Dates.
    pub dates: usize,
    /// The first value that has one of these forms.
    pub example: Option<String>,
}

const CURRENCIES: [&str; 8] = ["€", "$", "£", "¥", "EUR", "USD", "GBP", "CHF"];

impl Looks {
    /// Counts a value.
    pub(crate) fn add(&mut self, text: &[u8]) {
        let Ok(text) = std::str::from_utf8(text) else { return };
        self.values += 1;
        let bare = text.strip_prefix(['-', '+']).unwrap_or(text);
        let digits =
            |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let grouped = |part: &str, mark: char| {
            let mut groups = part.split(mark);
            groups.next().is_some_and(|first| digits(first) && first.len() <= 3)
                && groups.all(|group| digits(group) && group.len() == 3)
        };
        let is_number = |part: &str| {
            let part = part.trim();
            !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit() || b".,-+ ".contains(&b))
        };
        let comma = bare.split_once(',').is_some_and(|(whole, rest)| {
            (digits(whole) || grouped(whole, '.')) && digits(&rest.replace([',', '.'], ""))
        });
        let point = bare.contains('.') && digits(&bare.replace('.', ""));
        let thousands = point && grouped(bare, '.') && !bare.starts_with("0.");
        let money = CURRENCIES.iter().any(|sign| {
            let rest = bare.strip_prefix(sign).or_else(|| bare.strip_suffix(sign));
            rest.is_some_and(is_number)
        });
        let found = [
            (&mut self.leading_zeros, bare.len() > 1 && bare.starts_with('0') && digits(bare)),
            (&mut self.commas, comma),
            (&mut self.percents, bare.strip_suffix('%').is_some_and(is_number)),
            (&mut self.currencies, money),
            (&mut self.dates, is_date(bare)),
            (&mut self.thousands, thousands),
        ];
        let mut any = false;
        for (count, seen) in found {
            *count += usize::from(seen);
            any |= seen;
        }
        self.points += usize::from(point);
        if any && self.example.is_none() {
            self.example = Some(text.to_owned());
        }
    }

    /// Whether at least 90 % of the values are counted in `count`.
    pub fn mostly(&self, count: usize) -> bool {
        count > 0 && 10 * count >= 9 * self.values
    }
}

/// Whether the text is a day such as 2024-01-31, 31.1.2024 or 1/31/2024, with or without a time.
fn is_date(text: &str) -> bool {
    let day = text.split(['T', ' ']).next().unwrap_or_default();
    let whole = |part: &str, most: usize| {
        (1..=most).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    ['-', '.', '/'].iter().any(|mark| match day.split(*mark).collect::<Vec<_>>()[..] {
        [year, month, day] if year.len() == 4 => whole(year, 4) && whole(month, 2) && whole(day, 2),
        [day, month, year] if year.len() == 4 => whole(year, 4) && whole(month, 2) && whole(day, 2),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looks(values: &[&str]) -> Looks {
        let mut looks = Looks::default();
        for value in values {
            looks.add(value.as_bytes());
        }
        looks
    }

    #[test]
    fn forms_of_numbers_and_dates_are_told_apart() {
        let found = looks(&["01067", "8.905", "32.568", "500", "0.123", "1.5", "1.234.567"]);
        assert_eq!((found.leading_zeros, found.thousands, found.points), (1, 3, 5));
        assert_eq!(found.example.as_deref(), Some("01067"));
        let found = looks(&["1,5", "1.234,56", "-7,25", "12,345,678", "a,b", "1,", ","]);
        assert_eq!(found.commas, 4);
        let found = looks(&["5%", "5.5 %", "%", "$5", "1.200,00 €", "EUR 7", "€", "7 EUR each"]);
        assert_eq!((found.percents, found.currencies), (2, 3));
        let dates = ["2024-01-31", "31.1.2024", "1/31/2024 10:20", "2024-01-31T10:20:30Z"];
        assert_eq!(looks(&dates).dates, 4);
        assert_eq!(looks(&["2024-01", "1.2.3", "192.168.0.1", "12-34-56", "0", ""]).dates, 0);
        assert_eq!(looks(&["0", "0.5", "-1e5", "x"]).example, None);
    }
}
