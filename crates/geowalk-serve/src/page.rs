//! The live page: what every model does, drawn by a script in the page from the events of the service.

/// The page. It loads nothing but the events.
pub fn html() -> String {
    include_str!("page.html").replace("/*style*/", &geowalk_page::style())
}
