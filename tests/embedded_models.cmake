# The models of tests/runtime/embedded_model_test.cc as constants: the shipped ones
# and one of each kind.
set(atto_embedded_models "")
foreach(
  model
  models/spam
  models/keywords
  tests/golden/models/pre_mean_gelu
  tests/golden/models/pre_class_relu
  tests/golden/models/post_mean_gelu
  tests/golden/models/post_class_relu)
  cmake_path(GET model FILENAME name)
  atto_embed_model(embedded_${name} ${PROJECT_SOURCE_DIR}/${model}.gguf)
  list(APPEND atto_embedded_models embedded_${name})
endforeach()
