// The page behind `atto attention --html`: attention_page.html as a string.
#ifndef ATTO_TOOLS_CLI_ATTENTION_PAGE_H_
#define ATTO_TOOLS_CLI_ATTENTION_PAGE_H_

namespace atto::cli {

// kAttentionData stands once in it, where the data belongs.
extern const char* const kAttentionPage;
constexpr const char* kAttentionData = "ATTENTION_DATA";

}  // namespace atto::cli

#endif  // ATTO_TOOLS_CLI_ATTENTION_PAGE_H_
