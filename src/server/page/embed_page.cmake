# Writes OUTPUT, a source file that holds the text of PAGE.
file(READ ${PAGE} content)
file(WRITE ${OUTPUT} "// Generated from src/server/page/page.html.
#include \"server/page/live_page.h\"

namespace remora::server {

std::string_view live_page_text() {
  return R\"page(${content})page\";
}

}  // namespace remora::server
")
