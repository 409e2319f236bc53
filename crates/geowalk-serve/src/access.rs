//! # Tokens
//! A file with a line for each: `TOKEN RIGHTS MODEL`, such as `k7Yq...3f read,learn churn`. Rights are
//! `read`, `learn` and `admin`, which has the other two; the model `*` is all of them. Lines that begin with
//! `#` are comments.
//!
//! Tokens are kept and compared as hashes, all of them for every request, so that the time says nothing about
//! them.

use blake3::Hash;

/// What a request needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Right {
    /// Predict and describe.
    Read,
    /// Send rows to learn from.
    Learn,
    /// Create, remove, roll back.
    Admin,
}

#[derive(Debug)]
struct Token {
    hash: Hash,
    rights: Vec<Right>,
    model: String,
}

/// The tokens that are known.
#[derive(Debug, Default)]
pub struct Tokens(Vec<Token>);

impl Tokens {
    /// Shortest token: 16 characters of base64 are 96 bits.
    const SHORTEST: usize = 16;

    /// Reads the text of a file.
    ///
    /// ```
    /// use geowalk_serve::access::{Right, Tokens};
    /// let tokens = Tokens::parse("# of the shop\n0123456789abcdef read,learn churn\n")?;
    /// let bearer = Some("Bearer 0123456789abcdef");
    /// assert!(tokens.allow(bearer, Right::Learn, "churn").is_ok());
    /// assert_eq!(tokens.allow(bearer, Right::Admin, "churn").unwrap_err().status, 403);
    /// assert_eq!(tokens.allow(bearer, Right::Read, "other").unwrap_err().status, 403);
    /// assert_eq!(tokens.allow(Some("Bearer guess"), Right::Read, "churn").unwrap_err().status, 401);
    /// assert!(Tokens::parse("short read *").unwrap_err().contains("line 1"));
    /// # Ok::<(), String>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut tokens = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong =
                |what: &str| format!("line {}: {what}; write TOKEN read,learn MODEL", number + 1);
            let mut words = line.split_whitespace();
            let (Some(token), Some(rights), Some(model), None) =
                (words.next(), words.next(), words.next(), words.next())
            else {
                return Err(wrong("there must be three words"));
            };
            if token.len() < Self::SHORTEST {
                return Err(wrong("the token has fewer than 16 characters"));
            }
            let right = |name: &str| match name {
                "read" => Ok(Right::Read),
                "learn" => Ok(Right::Learn),
                "admin" => Ok(Right::Admin),
                _ => Err(wrong(&format!("unknown right '{name}'"))),
            };
            let rights = rights.split(',').map(right).collect::<Result<_, _>>()?;
            tokens.push(Token {
                hash: blake3::hash(token.as_bytes()),
                rights,
                model: model.to_owned(),
            });
        }
        if tokens.is_empty() {
            return Err("there is no token in it; write TOKEN read,learn MODEL".to_owned());
        }
        Ok(Self(tokens))
    }

    /// Without tokens everything is allowed.
    pub fn is_open(&self) -> bool {
        self.0.is_empty()
    }

    /// May the bearer do this to that model? `*` asks for a right to all models.
    pub fn allow(
        &self,
        header: Option<&str>,
        right: Right,
        model: &str,
    ) -> Result<(), crate::fault::Fault> {
        if self.is_open() {
            return Ok(());
        }
        let token = header.and_then(|header| header.strip_prefix("Bearer ")).unwrap_or_default();
        let hash = blake3::hash(token.trim().as_bytes());
        let (mut known, mut allowed) = (false, false);
        for token in &self.0 {
            let same = token.hash == hash; // in constant time
            known |= same;
            let right = token.rights.contains(&right) || token.rights.contains(&Right::Admin);
            let model = token.model == "*" || token.model == model;
            allowed |= same && right && model; // after the comparison
        }
        match (known, allowed) {
            (_, true) => Ok(()),
            (true, false) => Err(crate::fault::Fault::new(
                403,
                "the token has no right to do this",
                "ask the operator for another token",
            )),
            (false, _) => Err(crate::fault::Fault::new(
                401,
                "there is no valid token",
                "send the header Authorization: Bearer TOKEN",
            )),
        }
    }
}
