package rest

import "sync"

// maxPooled is the largest buffer kept for reuse: a rare large answer must not
// pin its memory.
const maxPooled = 1 << 20

var buffers = sync.Pool{New: func() any { return new(make([]byte, 0, 4096)) }}

// scratch gives an empty buffer that lives until release. The answer has one.
func (out *outgoing) scratch() []byte {
	if out.buffer == nil {
		out.buffer = buffers.Get().(*[]byte)
	}
	return (*out.buffer)[:0]
}

// keep makes what was appended to the scratch buffer the answer's body.
func (out *outgoing) keep(body []byte) {
	if out.buffer != nil {
		*out.buffer = body
	}
	out.Body = body
}

// release returns the scratch buffer. The body must have been written.
func (out *outgoing) release() {
	if out.buffer == nil {
		return
	}
	if cap(*out.buffer) <= maxPooled {
		buffers.Put(out.buffer)
	}
	out.buffer, out.Body = nil, nil
}
