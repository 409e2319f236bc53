//! # Writing a file
//! At every moment the path leads to the old file or to the whole new one, also if the process or the machine stops.
//! An [`Output`] is written to a temporary file beside its target, and takes its place only when it is
//! [finished](Output::finish). Pipes, terminals and devices are written directly.
//!
//! A process that is killed leaves its temporary file behind. Each temporary file is locked by the process that writes
//! it, and the next write of the same target removes those that nobody has locked.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A file that is being written.
///
/// ```
/// use std::io::Write;
/// use geowalk_run::replace::Output;
/// let path = std::env::temp_dir().join(format!("geowalk-output-{}", std::process::id()));
/// let mut output = Output::create(&path)?;
/// output.write_all(b"whole")?;
/// assert!(!path.exists());
/// output.finish()?;
/// assert_eq!(std::fs::read(&path)?, b"whole");
/// # std::fs::remove_file(path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Output {
    writer: BufWriter<File>,
    /// Where the temporary file is, and which file it becomes. None for what is written directly.
    moved: Option<(PathBuf, PathBuf)>,
}

impl Output {
    /// Begins to write. `-` is standard output, as are the names that the system has for it.
    pub fn create(path: &Path) -> io::Result<Self> {
        let direct = |file| Self { writer: BufWriter::with_capacity(1 << 16, file), moved: None };
        if let Some(stream) = standard_stream(path) {
            return stream.map(direct);
        }
        let path = target(path);
        let old = fs::metadata(&path).ok();
        match &old {
            // A pipe, a terminal, /dev/null: renaming would put a file in its place.
            Some(old) if !old.is_file() => {
                return File::options().write(true).open(&path).map(direct);
            }
            Some(old) if old.permissions().readonly() => {
                return Err(io::ErrorKind::PermissionDenied.into());
            }
            _ => {}
        }
        remove_leftovers(&path);
        let (temporary, file) = beside(&path)?;
        if let Some(old) = old
            && let Err(error) = file.set_permissions(old.permissions())
        {
            // The first error is the one to tell.
            let _ = fs::remove_file(&temporary);
            return Err(error);
        }
        let mut output = direct(file);
        output.moved = Some((temporary, path));
        Ok(output)
    }

    /// Puts what was written in its place. Without this call nothing has changed at the target.
    pub fn finish(mut self) -> io::Result<()> {
        self.writer.flush()?;
        let Some((temporary, path)) = &self.moved else { return Ok(()) };
        self.writer.get_ref().sync_all()?;
        fs::rename(temporary, path)?;
        // Makes the new name durable where directories can be synchronised. The file is whole either way.
        let _ = File::open(folder(path)).and_then(|folder| folder.sync_all());
        self.moved = None;
        Ok(())
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some((temporary, _)) = &self.moved {
            // There is no caller who could be told.
            let _ = fs::remove_file(temporary);
        }
    }
}

/// Writes a file in place of the one at `path`, if there is one.
pub(crate) fn replace(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut output = Output::create(path)?;
    write(&mut output)?;
    output.finish()
}

/// Can [`Output::create`] begin here? Leaves nothing behind.
pub fn try_out(path: &Path) -> io::Result<()> {
    match fs::metadata(target(path)) {
        Ok(old) if old.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        // Opening a pipe would wait for its reader.
        Ok(old) if !old.is_file() => Ok(()),
        _ => Output::create(path).map(drop),
    }
}

/// The standard stream that this path is a name of.
fn standard_stream(path: &Path) -> Option<io::Result<File>> {
    let number = match path.to_str()? {
        "-" | "/dev/stdout" => 1,
        "/dev/stderr" => 2,
        text => {
            let folder = ["/dev/fd/", "/proc/self/fd/"];
            folder.iter().find_map(|folder| text.strip_prefix(folder)?.parse().ok())?
        }
    };
    stream(number)
}

/// A copy of a standard stream, which shares its position in a file. Not the stream of the standard library, which
/// other threads may have locked.
#[cfg(unix)]
fn stream(number: u8) -> Option<io::Result<File>> {
    use std::os::fd::AsFd;
    let copy = match number {
        1 => io::stdout().as_fd().try_clone_to_owned(),
        2 => io::stderr().as_fd().try_clone_to_owned(),
        _ => return None,
    };
    Some(copy.map(File::from))
}

#[cfg(windows)]
fn stream(number: u8) -> Option<io::Result<File>> {
    use std::os::windows::io::AsHandle;
    let copy = match number {
        1 => io::stdout().as_handle().try_clone_to_owned(),
        2 => io::stderr().as_handle().try_clone_to_owned(),
        _ => return None,
    };
    Some(copy.map(File::from))
}

/// Is this path a name of standard output?
pub fn is_stdout(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path == Path::new(name))
}

/// What a path leads to: a link is followed, also if there is no file yet at its end.
pub fn target(path: &Path) -> PathBuf {
    if let Ok(path) = fs::canonicalize(path) {
        return path;
    }
    let mut path = path.to_owned();
    // Links that lead round a circle end here.
    for _ in 0..40 {
        let Ok(next) = fs::read_link(&path) else { break };
        path = folder(&path).join(next);
    }
    match (fs::canonicalize(folder(&path)), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path,
    }
}

/// The directory of a file.
fn folder(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// What the name of a temporary file begins with.
fn stem(path: &Path) -> Option<OsString> {
    let mut stem = OsString::from(".");
    stem.push(path.file_name()?);
    stem.push(".");
    Some(stem)
}

/// A new file in the same directory, locked.
fn beside(path: &Path) -> io::Result<(PathBuf, File)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let stem = stem(path).ok_or(io::ErrorKind::InvalidInput)?;
    loop {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let mut name = stem.clone();
        name.push(format!("{}-{count}.tmp", std::process::id()));
        let temporary = path.with_file_name(name);
        let file = match File::create_new(&temporary) {
            Ok(file) => file,
            // Left behind by a process of the same number that was stopped.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(error),
        };
        // Another process may have taken the file for a leftover before it was locked. Then it is removed.
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {}
            Ok(()) if !temporary.exists() => {}
            // A file system without locks has no leftovers removed either.
            Ok(()) | Err(TryLockError::Error(_)) => return Ok((temporary, file)),
        }
    }
}

/// Removes temporary files of this target that no process is writing. Failures do not matter: nothing depends on it.
fn remove_leftovers(path: &Path) {
    let Some(stem) = stem(path) else { return };
    let Ok(entries) = fs::read_dir(folder(path)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let rest = name.as_encoded_bytes().strip_prefix(stem.as_encoded_bytes());
        let numbers = rest.and_then(|rest| rest.strip_suffix(b".tmp"));
        let is_temporary = numbers.is_some_and(|numbers| {
            numbers.iter().all(|byte| byte.is_ascii_digit() || *byte == b'-')
        });
        if is_temporary
            && let Ok(file) = File::options().write(true).open(entry.path())
            && file.try_lock().is_ok()
        {
            // Removed while it is locked, so that a process that has just created it will notice.
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("geowalk-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn files(folder: &Path) -> Vec<PathBuf> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
    }

    #[test]
    fn a_failure_leaves_the_old_file_and_nothing_else() {
        let folder = folder("failure");
        let path = folder.join("model");
        replace(&path, |out| out.write_all(b"old")).unwrap();
        let failed = replace(&path, |out| {
            out.write_all(&vec![b'x'; 1 << 20])?;
            assert_eq!(files(&folder).len(), 2, "the new file stands beside the old one");
            Err(io::Error::other("disk full"))
        });
        assert_eq!(failed.unwrap_err().to_string(), "disk full");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(files(&folder).len(), 1);
        assert!(replace(&folder, |out| out.write_all(b"new")).is_err(), "it is a directory");
        replace(&path, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert!(replace(&folder.join("none/model"), |_| Ok(())).is_err());
        fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn links_permissions_and_pipes_stay() {
        use std::os::unix::fs::PermissionsExt;
        let folder = folder("links");
        let (path, link) = (folder.join("model"), folder.join("link"));
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        replace(&link, |out| out.write_all(b"new")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o440)).unwrap();
        let error = replace(&path, |out| out.write_all(b"newer")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        let pipe = folder.join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read(pipe).unwrap()
        });
        replace(&pipe, |out| out.write_all(b"through")).unwrap();
        assert_eq!(reader.join().unwrap(), b"through");
        assert!(!fs::metadata(&pipe).unwrap().is_file());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn leftovers_of_killed_writers_are_removed() {
        let folder = folder("leftovers");
        let path = folder.join("model");
        for name in [".model.1-0.tmp", ".model.99999999-7.tmp", ".model.x.tmp", ".models.1-0.tmp"] {
            fs::write(folder.join(name), "half").unwrap();
        }
        let mut going_on = Output::create(&path).unwrap();
        going_on.write_all(b"first").unwrap();
        replace(&path, |out| out.write_all(b"second")).unwrap();
        let mut left: Vec<_> = files(&folder);
        left.sort();
        assert_eq!(left.len(), 4, "{left:?}"); // the model, the one going on, two of other names
        going_on.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"first");
        drop(Output::create(&path).unwrap());
        assert_eq!(files(&folder).len(), 3);
        fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_no_file_yet_is_followed() {
        let folder = folder("dangling");
        let link = folder.join("link");
        std::os::unix::fs::symlink("later", &link).unwrap();
        replace(&link, |out| out.write_all(b"new")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(folder.join("later")).unwrap(), b"new");
        fs::remove_dir_all(folder).unwrap();
    }
}
