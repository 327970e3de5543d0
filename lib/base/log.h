// Messages on standard error, each line with the tool's name. Losing stderr is not an error.
#pragma once
#include <string>

namespace tx {

class Log {
 public:
  // Silent: says nothing at all, as a process does for which another one speaks.
  explicit Log(std::string tool, bool quiet = false, bool silent = false);
  void info(const std::string& text) const;   // left out when quiet
  void warn(const std::string& text) const;   // "tool: warning: text"
  void error(const std::string& text) const;  // "tool: text"
  // Rewrites the live line on a terminal; where stderr is not one, does nothing.
  void live(const std::string& text) const;
  void clear_live() const;  // removes that line
  bool terminal() const { return terminal_; }
  const std::string& tool() const { return tool_; }

 private:
  void line(const std::string& text) const;
  std::string tool_;
  bool quiet_, silent_, terminal_;
  mutable bool live_shown_ = false;
};

}  // namespace tx
