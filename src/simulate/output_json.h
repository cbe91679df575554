// SPDX-License-Identifier: BSD-3-Clause

// The parts that all JSON outputs have in common.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "simulate/study.h"

namespace nearcache::simulate {

// Replaces what is not valid UTF-8, and hence not valid JSON: names come from files.
std::string text_for_json(const std::string& text);
nlohmann::ordered_json cost_json(const Traces& traces);
nlohmann::ordered_json traces_json(const Traces& traces);

}  // namespace nearcache::simulate
