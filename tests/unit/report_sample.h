/* SPDX-License-Identifier: Apache-2.0 */
/* Findings with known content for the tests of record, jsonl, suppression, store and report. */
#ifndef UNIT_REPORT_SAMPLE_H
#define UNIT_REPORT_SAMPLE_H

#include "record/finding.h"

struct finding *sample_race(void);    /* symbols, lines, an inlined frame, a heap block */
struct finding *sample_bare(void);    /* stripped: modules and offsets alone */
struct finding *sample_ranked(void);  /* possible, with a rank among those */
struct finding *sample_hit(void);     /* a watch hit with old and new value */
struct finding *sample_broken(void);  /* what was seen later only, by a broken pattern */
struct finding *sample_hostile(void); /* control characters, markup, invalid UTF-8, extremes */

#endif
