/* SPDX-License-Identifier: Apache-2.0 */
/* page.html, page.css and page.js as text, put into the program by scripts/embed. */
#ifndef REPORT_HTML_PAGE_H
#define REPORT_HTML_PAGE_H

extern const char html_page_html[], html_page_css[], html_page_js[];

#endif
