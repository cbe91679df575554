// What a simulation found, as a table for people, as CSV and as JSON.
#pragma once

#include <string>

#include "simulate/study.h"

namespace nearcache::simulate {

std::string study_text(const StudyOptions& options, const Study& study);
std::string study_csv(const StudyOptions& options, const Study& study);
std::string study_json(const StudyOptions& options, const Study& study);

// What has to be said of traces that are not whole; one line each.
std::string notes_on(const Traces& traces);

}  // namespace nearcache::simulate
