#include "gateway/link/probe_session.h"

#include "gateway/link/link.h"

namespace beige {

void ProbeSession::OnBytes(std::string_view bytes) {
  reader_.Feed(bytes);
  const auto frame = reader_.Next();
  if (frame && !*frame) return;
  SocketStream& stream = connection_.stream();
  if (frame && (*frame)->header.kind == BGE_PROBE && connection_.link().ProbeArrived((*frame)->payload)) {
    v2::AppendFrame(stream.Buffer(), 0, BGE_PROBED, (*frame)->payload);
  } else {
    v2::AppendFrame(stream.Buffer(), 0, BGE_REFUSED, "no such probe is expected");
  }
  stream.Commit();
  connection_.CloseWhenSent();
}

}  // namespace beige
