#ifndef BEIGE_RUNTIME_FAKE_FAKE_INSPECT_H_
#define BEIGE_RUNTIME_FAKE_FAKE_INSPECT_H_

#include "runtime/engine/wire.h"

namespace beige::runtime::fake {

// What an engine that did all that EncodeCreate(request) asks would say of the new container; without id and name.
engine::ContainerInspect AsCreated(const engine::CreateRequest& request, const engine::ImageInspect& image);

}  // namespace beige::runtime::fake

#endif
