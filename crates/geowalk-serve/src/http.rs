//! # HTTP
//! Maps paths to actions. Every error response is problem+json with a position and a remedy.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::channel::Channel;
use http_body_util::{BodyExt, Either, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use serde_json::{Value, json};

use crate::access::{Right, Tokens};
use crate::body::{inference, inferred, rows};
use crate::fault::Fault;
use crate::page;
use crate::store::{self, Fold};
use crate::worker::{Counts, Host, Job, Limits};

/// The type of a response.
pub type Answer = Response<Either<Full<Bytes>, Channel<Bytes>>>;

/// Maximum number of open event streams.
const STREAMS: usize = 64;

/// The state of the service.
#[derive(Debug)]
pub struct Service {
    /// The folder of the state.
    pub dir: PathBuf,
    /// Limits and intervals.
    pub limits: Limits,
    /// The valid tokens.
    pub tokens: Tokens,
    /// The models by name.
    pub models: RwLock<BTreeMap<String, Arc<Host>>>,
    /// Held while a model is created or removed.
    pub changing: tokio::sync::Mutex<()>,
    /// Whether the service is shutting down.
    pub draining: AtomicBool,
    /// Number of responses, by the first digit of their status.
    pub answers: [AtomicU64; 6],
    /// Number of open event streams.
    pub streams: AtomicUsize,
}

/// Checks the name of a model: lower-case letters, digits, `-`, `_` and `.`, at most 64 characters.
pub fn check_name(name: &str) -> Result<(), Fault> {
    let good = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || b"-_.".contains(&c);
    let first = name.bytes().next().is_some_and(|c| c.is_ascii_alphanumeric());
    if first && name.len() <= 64 && name.bytes().all(good) {
        return Ok(());
    }
    let remedy = "use at most 64 of a-z, 0-9, '-', '_', '.', beginning with a letter or digit";
    Err(Fault::bad("this is no name for a model", remedy))
}

fn unknown(name: &str) -> Fault {
    Fault::new(404, format!("there is no model '{name}'"), "GET /v1/models lists them")
}

impl Service {
    /// The model with this name.
    pub fn model(&self, name: &str) -> Result<Arc<Host>, Fault> {
        let models = self.models.read().unwrap_or_else(PoisonError::into_inner);
        models.get(name).cloned().ok_or_else(|| unknown(name))
    }

    /// All models.
    pub fn all(&self) -> Vec<Arc<Host>> {
        self.models.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// Creates a model; returns a message for the user.
    pub fn create(&self, name: &str, format: &str, body: &[u8]) -> Result<String, Fault> {
        check_name(name)?;
        if self.model(name).is_ok() {
            let detail = format!("there is a model '{name}' already");
            return Err(Fault::new(409, detail, "delete it first, or use another name"));
        }
        if self.all().len() >= self.limits.models {
            let detail =
                format!("there are {} models, the most that are allowed", self.limits.models);
            return Err(Fault::new(409, detail, "delete one, or raise --max-models"));
        }
        let mut engine = store::new_engine(format, body)?;
        engine.position = 0;
        let folder = store::create(&self.dir, name, &Fold::new(engine))?;
        let (host, note) = Host::start(folder, &self.limits)?;
        let mut models = self.models.write().unwrap_or_else(PoisonError::into_inner);
        models.insert(name.to_owned(), Arc::new(host));
        Ok(note)
    }

    /// Deletes a model.
    pub fn delete(&self, name: &str) -> Result<(), Fault> {
        let host = self.models.write().unwrap_or_else(PoisonError::into_inner).remove(name);
        let host = host.ok_or_else(|| unknown(name))?;
        host.stop();
        Ok(store::remove(&host.folder)?)
    }

    /// The metrics in the format of Prometheus.
    pub fn metrics(&self) -> String {
        let mut out = String::new();
        let _ = writeln!(out, "# HELP geowalk_answers_total Answers by class of status.");
        let _ = writeln!(out, "# TYPE geowalk_answers_total counter");
        for (class, count) in self.answers.iter().enumerate().skip(1) {
            let count = count.load(Ordering::Relaxed);
            let _ = writeln!(out, "geowalk_answers_total{{status=\"{class}xx\"}} {count}");
        }
        let hosts = self.all();
        let mut family = |name: &str, kind: &str, help: &str, of: &dyn Fn(&Host) -> f64| {
            let _ = writeln!(out, "# HELP geowalk_{name} {help}\n# TYPE geowalk_{name} {kind}");
            for host in &hosts {
                let _ = writeln!(out, "geowalk_{name}{{model=\"{}\"}} {}", host.name, of(host));
            }
        };
        let counter = |of: fn(&Counts) -> &AtomicU64| {
            move |host: &Host| of(&host.counts).load(Ordering::Relaxed) as f64
        };
        family(
            "predictions_total",
            "counter",
            "Requests for predictions.",
            &counter(|c| &c.predicted),
        );
        family(
            "rows_learned_total",
            "counter",
            "Rows learned from since the start.",
            &counter(|c| &c.learned),
        );
        family(
            "refused_total",
            "counter",
            "Requests refused because the queue was full.",
            &counter(|c| &c.refused),
        );
        family(
            "labels_missed_total",
            "counter",
            "Predictions dropped before their label came.",
            &counter(|c| &c.dropped),
        );
        family(
            "repeated_total",
            "counter",
            "Requests with an id that was answered before.",
            &counter(|c| &c.repeated),
        );
        family("commits_total", "counter", "Groups written to the log.", &counter(|c| &c.commits));
        family("sequence", "gauge", "Sequence number on disk.", &counter(|c| &c.sequence));
        family(
            "log_bytes",
            "gauge",
            "Bytes of the newest segment of the log.",
            &counter(|c| &c.log_bytes),
        );
        family("waiting_rows", "gauge", "Predictions that wait for a label.", &|host| {
            host.waiting() as f64
        });
        family("trouble", "gauge", "1 if the last snapshot failed.", &|host| {
            f64::from(u8::from(host.trouble().is_some()))
        });
        family("loss", "gauge", "Average loss of predictions made before learning.", &|host| {
            host.progress().2
        });
        out
    }
}

/// A request without its body.
struct Asked {
    path: String,
    query: Vec<(String, String)>,
    headers: HeaderMap,
    method: Method,
}

impl Asked {
    fn header(&self, name: HeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    fn query(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    fn flag(&self, name: &str) -> bool {
        matches!(self.query(name), Some("" | "1" | "true"))
    }

    /// The id of a request: from the query, or from the header `Idempotency-Key`.
    fn id(&self) -> Result<Option<String>, Fault> {
        let header = self.header(HeaderName::from_static("idempotency-key"));
        let id = self.query("id").or(header).map(str::to_owned);
        id.map(check_id).transpose()
    }
}

fn check_id(id: String) -> Result<String, Fault> {
    if id.is_empty() || id.len() > 200 {
        return Err(Fault::bad("the id is empty or has more than 200 bytes", "use a shorter id"));
    }
    Ok(id)
}

fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        let code = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        match (bytes[at], code.and_then(|code| u8::from_str_radix(code, 16).ok())) {
            (_, Some(byte)) => {
                out.push(byte);
                at += 3;
                continue;
            }
            (b'+', None) => out.push(b' '),
            (byte, None) => out.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn answer(status: u16, kind: &'static str, body: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Either::Left(Full::new(body.into())));
    *answer.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

fn json_answer(status: u16, value: &Value) -> Answer {
    answer(status, "application/json", value.to_string())
}

fn refusal(fault: &Fault) -> Answer {
    let mut answer = answer(fault.status, "application/problem+json", fault.json().to_string());
    let mut add =
        |name, value| drop(answer.headers_mut().insert(name, HeaderValue::from_static(value)));
    match fault.status {
        429 => add(header::RETRY_AFTER, "1"),
        503 | 507 => add(header::RETRY_AFTER, "10"),
        401 => add(header::WWW_AUTHENTICATE, "Bearer"),
        _ => {}
    }
    if matches!(fault.status, 401..=408 | 413 | 415) {
        add(header::CONNECTION, "close"); // the body may not have been read
    }
    answer
}

/// Answers a request.
pub async fn handle(
    service: Arc<Service>,
    request: Request<Incoming>,
) -> Result<Answer, Infallible> {
    let answer = route(&service, request).await.unwrap_or_else(|fault| refusal(&fault));
    let class = usize::from(answer.status().as_u16() / 100).min(5);
    service.answers[class].fetch_add(1, Ordering::Relaxed);
    Ok(answer)
}

async fn body(service: &Service, body: Incoming) -> Result<Vec<u8>, Fault> {
    let limit = service.limits.body;
    let collected =
        tokio::time::timeout(service.limits.time, Limited::new(body, limit).collect()).await;
    match collected {
        Err(_) => {
            Err(Fault::new(408, "the body did not arrive in time", "send it faster, or in parts"))
        }
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            let detail = format!("the body has more than {limit} bytes");
            Err(Fault::new(413, detail, "send it in several requests, or raise --max-body"))
        }
        Ok(Err(error)) => Err(Fault::bad(error.to_string(), "send the request again")),
        Ok(Ok(collected)) => Ok(collected.to_bytes().into()),
    }
}

/// Runs work that takes longer than a few microseconds in a blocking thread.
async fn apart<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| {
        Err(Fault::new(500, "the request failed", "report this to the operator"))
    })
}

async fn ask(host: &Host, job: Job) -> Result<Answer, Fault> {
    let answered = host.ask(job)?.await;
    let lost = || {
        Fault::new(
            503,
            "the model stopped before it answered",
            "send the request again with the same id",
        )
    };
    let (done, repeated) = answered.map_err(|_| lost())??;
    let text = format!(
        "{{\"model\":\"{}\",\"rows\":{},\"sequence\":{},\"repeated\":{repeated}}}",
        host.name, done.rows, done.sequence
    );
    Ok(answer(200, "application/json", text))
}

#[allow(clippy::too_many_lines, clippy::unnested_or_patterns)] // a table of all paths; a line for each
async fn route(service: &Arc<Service>, request: Request<Incoming>) -> Result<Answer, Fault> {
    let (parts, incoming) = request.into_parts();
    let pair = |pair: &str| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decode(key), decode(value))
    };
    let query = parts.uri.query().unwrap_or_default();
    let asked = Asked {
        path: parts.uri.path().to_owned(),
        query: query.split('&').filter(|pair| !pair.is_empty()).map(pair).collect(),
        headers: parts.headers,
        method: parts.method,
    };
    let path: Vec<&str> = asked.path.split('/').skip(1).collect();
    let allow = |right, model: &str| {
        service.tokens.allow(asked.header(header::AUTHORIZATION), right, model)
    };
    let (get, post, delete) =
        (asked.method == Method::GET, asked.method == Method::POST, asked.method == Method::DELETE);
    match path.as_slice() {
        ["livez" | "readyz"] | ["v2", "health", "live" | "ready"] if get => {
            let ready = !service.draining.load(Ordering::Relaxed)
                || asked.path.ends_with("live")
                || asked.path == "/livez";
            Ok(json_answer(if ready { 200 } else { 503 }, &json!({ "ready": ready })))
        }
        [""] if get => {
            let mut page = answer(200, "text/html; charset=utf-8", page::html());
            let policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'";
            page.headers_mut()
                .insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
            Ok(page)
        }
        ["openapi.json"] if get => {
            Ok(answer(200, "application/json", include_str!("openapi.json")))
        }
        ["metrics"] if get => {
            allow(Right::Read, "*")?;
            let service = Arc::clone(service);
            let text = apart(move || Ok(service.metrics())).await?;
            Ok(answer(200, "text/plain; version=0.0.4", text))
        }
        ["v1", "events"] if get => events(service, asked.header(header::AUTHORIZATION)),
        ["v1", "models"] if get => {
            let readable =
                service.all().into_iter().filter(|host| allow(Right::Read, &host.name).is_ok());
            let names: Vec<Value> = readable.map(|host| host.name.clone().into()).collect();
            if names.is_empty() {
                allow(Right::Read, "*")?;
            }
            Ok(json_answer(200, &json!({ "models": names })))
        }
        ["v2"] if get => Ok(json_answer(
            200,
            &json!({ "name": "geowalk", "version": env!("CARGO_PKG_VERSION"), "extensions": [] }),
        )),
        ["v1", "models", name] if post => {
            allow(Right::Admin, name)?;
            check_name(name)?;
            let kind = asked.header(header::CONTENT_TYPE).unwrap_or_default();
            let format = match kind.split(';').next().unwrap_or_default().trim() {
                "application/json" => "json",
                "application/octet-stream" => "model",
                _ => {
                    let remedy = "send settings as application/json, or a model file as application/octet-stream";
                    return Err(Fault::new(415, "this content type creates no model", remedy));
                }
            };
            let bytes = body(service, incoming).await?;
            let _changing = service.changing.lock().await;
            let (service, name) = (Arc::clone(service), (*name).to_owned());
            let object = apart(move || {
                service.create(&name, format, &bytes)?;
                Ok(service.model(&name)?.describe())
            });
            Ok(json_answer(201, &object.await?))
        }
        ["v1", "models", name] if get => {
            allow(Right::Read, name)?;
            let host = service.model(name)?;
            Ok(json_answer(200, &apart(move || Ok(host.describe())).await?))
        }
        ["v1", "models", name] if delete => {
            allow(Right::Admin, name)?;
            let _changing = service.changing.lock().await;
            let (service, name) = (Arc::clone(service), (*name).to_owned());
            let gone = name.clone();
            apart(move || service.delete(&gone)).await?;
            Ok(json_answer(200, &json!({ "model": name, "deleted": true })))
        }
        ["v1", "models", name, "predict"] if post => {
            allow(Right::Read, name)?;
            let host = service.model(name)?;
            let (id, proba) = (asked.id()?, asked.flag("proba"));
            let bytes = body(service, incoming).await?;
            let (format, bytes) = rows(asked.header(header::CONTENT_TYPE), bytes)?;
            let text = if bytes.len() < 1 << 16 {
                host.predict(format, &bytes, proba, id.as_deref())?
            } else {
                apart(move || host.predict(format, &bytes, proba, id.as_deref())).await?
            };
            Ok(answer(200, "application/json", text))
        }
        ["v1", "models", name, "learn"] if post => {
            allow(Right::Learn, name)?;
            let host = service.model(name)?;
            let id = asked.id()?.unwrap_or_default();
            let bytes = body(service, incoming).await?;
            let (format, body) = rows(asked.header(header::CONTENT_TYPE), bytes)?;
            ask(&host, Job::Learn { format, body, id }).await
        }
        [
            "v1",
            "models",
            name,
            what @ ("feedback" | "rollback" | "shadow" | "promote" | "snapshot"),
        ] if post => {
            allow(if *what == "feedback" { Right::Learn } else { Right::Admin }, name)?;
            let host = service.model(name)?;
            let bytes = body(service, incoming).await?;
            let object = || -> Result<Value, Fault> {
                let read = serde_json::from_slice(&bytes);
                read.map_err(|error| {
                    Fault::bad(format!("the body is no JSON: {error}"), "send a JSON object")
                })
            };
            let job = match *what {
                "feedback" => {
                    let object = object()?;
                    let id =
                        object["id"].as_str().map(str::to_owned).or_else(|| asked.id().ok()?);
                    let missing =
                        || Fault::bad("there is no id", "send {\"id\": \"...\", \"label\": ...}");
                    let id = check_id(id.ok_or_else(missing)?)?;
                    Job::Feedback { id, label: object["label"].clone() }
                }
                "rollback" => {
                    let sequence = object()?["sequence"].as_u64();
                    let missing =
                        || Fault::bad("there is no sequence number", "send {\"sequence\": 1000}");
                    Job::Rollback(sequence.ok_or_else(missing)?)
                }
                "shadow" => {
                    let is_model =
                        asked.header(header::CONTENT_TYPE) == Some("application/octet-stream");
                    Job::Shadow(if is_model { "model" } else { "json" }, bytes)
                }
                "promote" => Job::Promote,
                _ => Job::Snapshot,
            };
            ask(&host, job).await
        }
        ["v1", "models", name, "shadow"] if delete => {
            allow(Right::Admin, name)?;
            ask(&*service.model(name)?, Job::DropShadow).await
        }
        ["v1", "models", name, "model"] if get => {
            allow(Right::Read, name)?;
            let host = service.model(name)?;
            let bytes = apart(move || Ok(host.sides.read().snapshot()?)).await?;
            let nothing = || {
                Fault::new(
                    409,
                    "the model has not learned anything yet",
                    "send rows to learn from first",
                )
            };
            Ok(answer(200, "application/octet-stream", bytes.ok_or_else(nothing)?))
        }
        ["v1", "models", name, "certificate"] if get => {
            allow(Right::Read, name)?;
            let host = service.model(name)?;
            Ok(json_answer(200, &apart(move || Ok(host.certificate())).await?))
        }
        ["v2", "models", name] if get => {
            allow(Right::Read, name)?;
            let host = service.model(name)?;
            let side = host.sides.read();
            let columns = side.columns().0.len();
            let width = if columns == 0 { -1 } else { i64::try_from(columns).unwrap_or(-1) };
            let output = if side.is_regression() { "FP64" } else { "BYTES" };
            Ok(json_answer(
                200,
                &json!({
                    "name": name, "platform": "geowalk",
                    "inputs": [{ "name": "input", "datatype": "FP64", "shape": [-1, width] }],
                    "outputs": [{ "name": "predictions", "datatype": output, "shape": [-1] }],
                }),
            ))
        }
        ["v2", "models", name, "ready"] if get => {
            allow(Right::Read, name)?;
            service.model(name)?;
            Ok(json_answer(200, &json!({ "name": name, "ready": true })))
        }
        ["v2", "models", name, "infer"] if post => {
            allow(Right::Read, name)?;
            let host = service.model(name)?;
            let bytes = body(service, incoming).await?;
            let object = apart(move || {
                let (format, text, id) = inference(&host.sides.read(), &bytes)?;
                let text = host.predict(format, &text, false, None)?;
                Ok(inferred(&host.name, &text, &id))
            });
            Ok(json_answer(200, &object.await?))
        }
        ["livez" | "readyz" | "" | "openapi.json" | "metrics" | "v2"]
        | ["v1", "models" | "events"]
        | ["v1", "models", _]
        | [
            "v1",
            "models",
            _,
            "predict" | "learn" | "feedback" | "rollback" | "shadow" | "promote" | "snapshot"
            | "model" | "certificate",
        ]
        | ["v2", "health", "live" | "ready"]
        | ["v2", "models", _]
        | ["v2", "models", _, "ready" | "infer"] => {
            let detail = format!(
                "{} does not go with this path",
                geowalk_data::visible(asked.method.as_str())
            );
            Err(Fault::new(405, detail, "GET /openapi.json lists what does"))
        }
        _ => Err(Fault::new(404, "there is no such path", "GET /openapi.json lists all paths")),
    }
}

/// A stream with one event per second: the state of every model that the token may read.
fn events(service: &Arc<Service>, token: Option<&str>) -> Result<Answer, Fault> {
    let readable = |host: &Arc<Host>| service.tokens.allow(token, Right::Read, &host.name);
    if service.all().iter().all(|host| readable(host).is_err()) {
        service.tokens.allow(token, Right::Read, "*")?;
    }
    if service.streams.fetch_add(1, Ordering::Relaxed) >= STREAMS {
        service.streams.fetch_sub(1, Ordering::Relaxed);
        return Err(Fault::new(429, format!("{STREAMS} event streams are open"), "close one"));
    }
    let (mut sender, channel) = Channel::new(2);
    let (service, token) = (Arc::clone(service), token.map(str::to_owned));
    tokio::spawn(async move {
        let mut first = true;
        while !service.draining.load(Ordering::Relaxed) {
            let (again, token) = (Arc::clone(&service), token.clone());
            let past = std::mem::take(&mut first);
            let made = apart(move || Ok(event(&again, token.as_deref(), past))).await;
            let Ok(text) = made else { break };
            if sender.send_data(Bytes::from(text)).await.is_err() {
                break;
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        service.streams.fetch_sub(1, Ordering::Relaxed);
    });
    let mut stream = Response::new(Either::Right(channel));
    let headers = stream.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(stream)
}

/// The state of every readable model; with its history if `past` is set.
fn event(service: &Service, token: Option<&str>, past: bool) -> String {
    let hosts = service.all().into_iter();
    let models: Vec<Value> = hosts
        .filter(|host| service.tokens.allow(token, Right::Read, &host.name).is_ok())
        .map(|host| {
            let about = host.describe();
            let field = |name: &str| about[name].clone();
            json!({
                "model": host.name, "sequence": field("sequence"), "examples": field("examples"),
                "loss": field("loss"), "loss_name": field("loss_name"), "metrics": field("metrics"),
                "walk": field("walk"), "task": field("task"), "certificate": field("certificate"),
                "shadow": field("shadow"), "waiting": field("waiting"), "served": field("served"),
                "trouble": field("trouble"), "members": field("members"),
                "history": past.then(|| host.history()),
                "predicted": host.counts.predicted.load(Ordering::Relaxed),
                "learned": host.counts.learned.load(Ordering::Relaxed),
            })
        })
        .collect();
    format!("data: {}\n\n", json!({ "models": models }))
}
