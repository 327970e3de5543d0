// Messages on standard error; every line begins with the tool's name. What a message quotes from
// files is printable(): a line break in the text of info() and error() begins a line, elsewhere it
// is escaped. Write errors are ignored.
#pragma once
#include <string>

namespace tx {

class Log {
 public:
  // quiet: no info(). silent: no messages at all, on ranks other than 0.
  explicit Log(std::string tool, bool quiet = false, bool silent = false);
  void info(const std::string& text) const;   // "tool: text", not if quiet
  void warn(const std::string& text) const;   // "tool: warning: text"
  void error(const std::string& text) const;  // "tool: text"
  // Overwrites the status line on a terminal; does nothing if stderr is not a terminal.
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
