//! # The server
//! Starts the service, accepts connections, and stops it.

use std::fs::{self, File, TryLockError};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::access::Tokens;
use crate::http::{self, Service};
use crate::log::LogError;
use crate::store;
use crate::worker::{Host, Limits};

/// Time that open requests get to finish after a signal.
const DRAIN: Duration = Duration::from_secs(10);

/// How the service is started.
#[derive(Debug, Clone)]
pub struct Config {
    /// The folder of the state.
    pub dir: PathBuf,
    /// Models to create if they do not exist: names, and settings or model files.
    pub models: Vec<(String, String)>,
    /// The address to listen on.
    pub listen: String,
    /// The token file.
    pub tokens: Option<PathBuf>,
    /// Allow listening on a public address without tokens.
    pub insecure: bool,
    /// Limits and intervals.
    pub limits: Limits,
}

/// Serves until a stop signal arrives. `say` is called with each line of output.
pub fn serve(config: &Config, say: &mut dyn FnMut(&str)) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("cannot start threads: {error}"))?;
    let address = runtime.block_on(tokio::net::lookup_host(&config.listen));
    let address = address.ok().and_then(|mut found| found.next());
    let address = address.ok_or_else(|| format!("--listen {}: use ADDRESS:PORT", config.listen))?;
    let tokens = match &config.tokens {
        Some(path) => {
            let text = fs::read_to_string(path);
            let text = text.map_err(|error| format!("cannot read {}: {error}", path.display()))?;
            Tokens::parse(&text).map_err(|error| format!("{}: {error}", path.display()))?
        }
        None if !address.ip().is_loopback() && !config.insecure => {
            return Err(format!(
                "--listen {}: other machines could change the models; give --tokens FILE, or --insecure",
                config.listen
            ));
        }
        None => Tokens::default(),
    };
    let models = config.dir.join("models");
    fs::create_dir_all(&models)
        .map_err(|error| LogError::io("create", &models)(error).to_string())?;
    let path = config.dir.join("lock");
    let lock = File::options().create(true).append(true).open(&path);
    let lock = lock.map_err(|error| LogError::io("write", &path)(error).to_string())?;
    if let Err(TryLockError::WouldBlock) = lock.try_lock() {
        return Err(format!(
            "{}: another service uses this folder; stop it first",
            config.dir.display()
        ));
    }
    let service = Service {
        dir: config.dir.clone(),
        limits: config.limits.clone(),
        tokens,
        models: std::sync::RwLock::default(),
        changing: tokio::sync::Mutex::new(()),
        draining: AtomicBool::new(false),
        answers: std::array::from_fn(|_| AtomicU64::new(0)),
        streams: AtomicUsize::new(0),
    };
    for (_, folder) in store::models(&config.dir).map_err(|error| error.to_string())? {
        let started = Host::start(folder.clone(), &config.limits);
        let (host, note) =
            started.map_err(|fault| format!("{}: {}", folder.display(), fault.detail))?;
        say(&note);
        if let Ok(mut models) = service.models.write() {
            models.insert(host.name.clone(), Arc::new(host));
        }
    }
    for (name, what) in &config.models {
        if service.model(name).is_ok() {
            say(&format!("model '{name}': it exists, --model is not used"));
            continue;
        }
        let created = match fs::read(what) {
            Ok(bytes) => service.create(name, "model", &bytes),
            Err(_) => service.create(name, "json", what.as_bytes()),
        };
        say(&created.map_err(|fault| {
            format!("--model {name}={what}: {}; {}", fault.detail, fault.remedy)
        })?);
    }
    let service = Arc::new(service);
    let outcome = runtime.block_on(accept(&service, address, say));
    service.draining.store(true, Ordering::Relaxed);
    runtime.shutdown_timeout(Duration::from_secs(1));
    for host in service.all() {
        host.stop();
        let trouble = host.trouble().map_or_else(String::new, |trouble| format!(", {trouble}"));
        let sequence = host.counts.sequence.load(Ordering::Relaxed);
        say(&format!("model '{}': stopped at sequence {sequence}{trouble}", host.name));
    }
    outcome
}

async fn accept(
    service: &Arc<Service>,
    address: std::net::SocketAddr,
    say: &mut dyn FnMut(&str),
) -> Result<(), String> {
    let listener = TcpListener::bind(address).await;
    let listener = listener.map_err(|error| format!("cannot listen on {address}: {error}"))?;
    let bound = listener.local_addr().map_err(|error| error.to_string())?;
    say(&format!("geowalk serves http://{bound}"));
    let watched = Arc::clone(service);
    tokio::spawn(async move {
        let mut second = tokio::time::interval(Duration::from_secs(1));
        loop {
            second.tick().await;
            watched.all().iter().for_each(|host| host.record());
        }
    });
    let connections = Arc::new(Semaphore::new(service.limits.connections));
    let graceful = GracefulShutdown::new();
    let mut stop = std::pin::pin!(signal());
    loop {
        let Ok(place) = Arc::clone(&connections).acquire_owned().await else { break };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        let Ok((stream, _)) = accepted else {
            // For example too many open files; wait until some are closed.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let service = Arc::clone(service);
        let time = service.limits.time;
        let answer = service_fn(move |request| http::handle(Arc::clone(&service), request));
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(time).max_buf_size(64 << 10);
        let connection = graceful.watch(builder.serve_connection(TokioIo::new(stream), answer));
        tokio::spawn(async move {
            // A client that disconnects is not an error.
            let _ = connection.await;
            drop(place);
        });
    }
    service.draining.store(true, Ordering::Relaxed);
    let _ = tokio::time::timeout(DRAIN, graceful.shutdown()).await;
    Ok(())
}

/// Waits for a stop signal.
async fn signal() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let (Ok(mut term), Ok(mut int)) =
            (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
        {
            tokio::select! {
                _ = term.recv() => {}
                _ = int.recv() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}
