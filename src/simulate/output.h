// SPDX-License-Identifier: BSD-3-Clause

// The results of a simulation as a table for people, as CSV and as JSON.
#pragma once

#include <string>

#include "simulate/study.h"

namespace nearcache::simulate {

std::string study_text(const StudyOptions& options, const Study& study);
std::string study_csv(const StudyOptions& options, const Study& study);
std::string study_json(const StudyOptions& options, const Study& study);

// Returns remarks on traces that are incomplete, one per line.
std::string notes_on(const Traces& traces);

}  // namespace nearcache::simulate
