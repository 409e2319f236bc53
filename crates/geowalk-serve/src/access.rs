//! # Tokens
//! A token file has one token per line: `TOKEN RIGHTS MODEL`, for example `k7Yq...3f read,learn churn`. The rights are
//! `read`, `learn`, and `admin`, which includes the others. The model `*` means all models. Lines beginning with `#`
//! are comments.
//!
//! Tokens are stored and compared as hashes. Every request is compared with all of them, so that the response time
//! reveals nothing about the tokens.

use blake3::Hash;

/// The right that a request needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Right {
    /// Predict and describe.
    Read,
    /// Send rows to learn.
    Learn,
    /// Create, delete, roll back.
    Admin,
}

#[derive(Debug)]
struct Token {
    hash: Hash,
    rights: Vec<Right>,
    model: String,
}

/// The valid tokens.
#[derive(Debug, Default)]
pub struct Tokens(Vec<Token>);

impl Tokens {
    /// Minimum length of a token: 16 characters of base64 have 96 bits.
    const SHORTEST: usize = 16;

    /// Reads the text of a token file.
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

    /// Whether access is open to everyone, because there are no tokens.
    pub fn is_open(&self) -> bool {
        self.0.is_empty()
    }

    /// Checks whether the bearer has a right to a model. The model `*` means a right to all models.
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
            let same = token.hash == hash; // constant-time comparison
            known |= same;
            let right = token.rights.contains(&right) || token.rights.contains(&Right::Admin);
            let model = token.model == "*" || token.model == model;
            allowed |= same && right && model; // evaluated after the comparison
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
