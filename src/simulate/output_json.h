// The parts that all JSON outputs have.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "simulate/study.h"

namespace nearcache::simulate {

// Names come from files: what is not UTF-8 would not be JSON.
std::string text_for_json(const std::string& text);
nlohmann::ordered_json cost_json(const Traces& traces);
nlohmann::ordered_json traces_json(const Traces& traces);

}  // namespace nearcache::simulate
