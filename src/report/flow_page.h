/* SPDX-License-Identifier: Apache-2.0 */
/* flow_page.html as text, put into the program by scripts/embed. */
#ifndef REPORT_FLOW_PAGE_H
#define REPORT_FLOW_PAGE_H

extern const char flow_page_html[];

#endif
