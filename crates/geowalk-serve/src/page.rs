//! The live page: shows every model. A script in the page draws the events of the service.

/// The page. It loads nothing except the events.
pub fn html() -> String {
    include_str!("page.html").replace("/*style*/", &geowalk_page::style())
}
