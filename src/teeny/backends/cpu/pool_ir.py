"""The thread pool's native part as LLVM IR, so that no C compiler is needed.

Memory of a pool, in bytes (lines of 128 keep writers apart):

    0    kernel, 8 arguments, 16 end, 24 chunk     the job; written while no worker runs
    128  next                                      the first program that nobody has taken
    256  pending, 260 main sleeps                  workers that have yet to finish
    384  workers, 128 bytes each: 0 state, 4 sleeps, 8 pool, 16 scratch

A worker's state: 0 idle, 1 posted, 2 running. The launching thread posts a job to each worker that it wants, takes part
in the work, takes back the posts that no worker has taken up (one that the system has not woken costs nothing), and
waits for the others. Both sides spin a little before they sleep on a futex.
"""

from __future__ import annotations

__all__ = ["HEADER_BYTES", "SLOT_BYTES", "pool_text"]

HEADER_BYTES = 384
SLOT_BYTES = 128
_SPIN = 1000
"""Pauses before sleep: 20 to 40 microseconds."""
_FUTEX_CALL = {"x86_64": 202, "aarch64": 98}

_X86 = {
    "declarations": """
declare void @llvm.x86.sse2.pause()
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)
""",
    "pause": "call void @llvm.x86.sse2.pause()",
    # Default: round to nearest, nothing flushed, no traps; the low six bits only record what happened.
    "enter": """
  %mode = alloca i32, align 4
  %wanted = alloca i32, align 4
  call void @llvm.x86.sse.stmxcsr(ptr %mode)
  store i32 8064, ptr %wanted, align 4
  call void @llvm.x86.sse.ldmxcsr(ptr %wanted)
""",
    "leave": "call void @llvm.x86.sse.ldmxcsr(ptr %mode)",
}
_ARM = {
    "declarations": """
declare void @llvm.aarch64.hint(i32)
declare i64 @llvm.aarch64.get.fpcr()
declare void @llvm.aarch64.set.fpcr(i64)
""",
    "pause": "call void @llvm.aarch64.hint(i32 1)",
    "enter": """
  %mode = call i64 @llvm.aarch64.get.fpcr()
  call void @llvm.aarch64.set.fpcr(i64 0)
""",
    "leave": "call void @llvm.aarch64.set.fpcr(i64 %mode)",
}
_OTHER = {"declarations": "", "pause": "", "enter": "", "leave": ""}

_RUN = """
{declarations}
define void @teeny_run(ptr %kernel, ptr %args, i64 %start, i64 %end, ptr %scratch) nounwind {{
  {enter}
  call void %kernel(ptr %args, i64 %start, i64 %end, ptr %scratch)
  {leave}
  ret void
}}

define void @teeny_small(ptr %block) nounwind {{
  %kernel = load ptr, ptr %block, align 8
  %scratch.at = getelementptr i8, ptr %block, i64 8
  %scratch = load ptr, ptr %scratch.at, align 8
  %end.at = getelementptr i8, ptr %block, i64 16
  %end = load i64, ptr %end.at, align 8
  %args = getelementptr i8, ptr %block, i64 24
  call void @teeny_run(ptr %kernel, ptr %args, i64 0, i64 %end, ptr %scratch)
  ret void
}}
"""

_POOL = """
declare i64 @syscall(i64, ...)

define internal void @work(ptr %pool, ptr %scratch) nounwind {{
entry:
  %kernel = load ptr, ptr %pool, align 8
  %args.at = getelementptr i8, ptr %pool, i64 8
  %args = load ptr, ptr %args.at, align 8
  %end.at = getelementptr i8, ptr %pool, i64 16
  %end = load i64, ptr %end.at, align 8
  %chunk.at = getelementptr i8, ptr %pool, i64 24
  %chunk = load i64, ptr %chunk.at, align 8
  %next = getelementptr i8, ptr %pool, i64 128
  br label %take
take:
  %from = atomicrmw add ptr %next, i64 %chunk monotonic
  %left = icmp slt i64 %from, %end
  br i1 %left, label %run, label %done
run:
  %room = sub i64 %end, %from
  %short = icmp slt i64 %room, %chunk
  %count = select i1 %short, i64 %room, i64 %chunk
  %to = add i64 %from, %count
  call void %kernel(ptr %args, i64 %from, i64 %to, ptr %scratch)
  br label %take
done:
  ret void
}}

define ptr @teeny_worker(ptr %slot) nounwind {{
entry:
  {enter}
  %sleeps = getelementptr i8, ptr %slot, i64 4
  %pool.at = getelementptr i8, ptr %slot, i64 8
  %pool = load ptr, ptr %pool.at, align 8
  %scratch.at = getelementptr i8, ptr %slot, i64 16
  %pending = getelementptr i8, ptr %pool, i64 256
  %main.sleeps = getelementptr i8, ptr %pool, i64 260
  br label %idle
idle:
  br label %spin
spin:
  %turn = phi i32 [0, %idle], [%turn.next, %again]
  %seen = load atomic i32, ptr %slot acquire, align 4
  %posted = icmp eq i32 %seen, 1
  br i1 %posted, label %claim, label %again
again:
  {pause}
  %turn.next = add i32 %turn, 1
  %more = icmp slt i32 %turn.next, {spin}
  br i1 %more, label %spin, label %lie.down
lie.down:
  store atomic i32 1, ptr %sleeps seq_cst, align 4
  br label %look
look:
  %state = load atomic i32, ptr %slot seq_cst, align 4
  %nothing = icmp eq i32 %state, 0
  br i1 %nothing, label %sleep, label %rise
sleep:
  %woken = call i64 (i64, ...) @syscall(i64 {futex}, ptr %slot, i32 128, i32 0, ptr null)
  br label %look
rise:
  store atomic i32 0, ptr %sleeps seq_cst, align 4
  br label %claim
claim:
  %claimed = cmpxchg ptr %slot, i32 1, i32 2 acq_rel acquire
  %mine = extractvalue {{ i32, i1 }} %claimed, 1
  br i1 %mine, label %do, label %idle
do:
  %scratch = load ptr, ptr %scratch.at, align 8
  call void @work(ptr %pool, ptr %scratch)
  store atomic i32 0, ptr %slot release, align 4
  %before = atomicrmw sub ptr %pending, i32 1 seq_cst
  %last = icmp eq i32 %before, 1
  br i1 %last, label %tell, label %idle
tell:
  %waits = load atomic i32, ptr %main.sleeps seq_cst, align 4
  %asleep = icmp ne i32 %waits, 0
  br i1 %asleep, label %wake, label %idle
wake:
  %told = call i64 (i64, ...) @syscall(i64 {futex}, ptr %pending, i32 129, i32 1)
  br label %idle
}}

define void @teeny_launch(ptr %pool, ptr %kernel, ptr %args, i64 %start, i64 %end, i64 %chunk, i32 %workers,
                          ptr %scratch) nounwind {{
entry:
  {enter}
  store ptr %kernel, ptr %pool, align 8
  %args.at = getelementptr i8, ptr %pool, i64 8
  store ptr %args, ptr %args.at, align 8
  %end.at = getelementptr i8, ptr %pool, i64 16
  store i64 %end, ptr %end.at, align 8
  %chunk.at = getelementptr i8, ptr %pool, i64 24
  store i64 %chunk, ptr %chunk.at, align 8
  %next = getelementptr i8, ptr %pool, i64 128
  store atomic i64 %start, ptr %next monotonic, align 8
  %pending = getelementptr i8, ptr %pool, i64 256
  store atomic i32 %workers, ptr %pending monotonic, align 4
  %main.sleeps = getelementptr i8, ptr %pool, i64 260
  %slots = getelementptr i8, ptr %pool, i64 {header}
  %some = icmp sgt i32 %workers, 0
  br i1 %some, label %post, label %own
post:
  %p = phi i32 [0, %entry], [%p.next, %posted]
  %p.offset = mul i32 %p, {slot}
  %p.slot = getelementptr i8, ptr %slots, i32 %p.offset
  store atomic i32 1, ptr %p.slot seq_cst, align 4
  %p.sleeps.at = getelementptr i8, ptr %p.slot, i64 4
  %p.sleeps = load atomic i32, ptr %p.sleeps.at seq_cst, align 4
  %p.asleep = icmp ne i32 %p.sleeps, 0
  br i1 %p.asleep, label %call, label %posted
call:
  %called = call i64 (i64, ...) @syscall(i64 {futex}, ptr %p.slot, i32 129, i32 1)
  br label %posted
posted:
  %p.next = add i32 %p, 1
  %p.more = icmp slt i32 %p.next, %workers
  br i1 %p.more, label %post, label %own
own:
  call void @work(ptr %pool, ptr %scratch)
  br i1 %some, label %revoke, label %done
revoke:
  %r = phi i32 [0, %own], [%r.next, %revoke]
  %back = phi i32 [0, %own], [%back.next, %revoke]
  %r.offset = mul i32 %r, {slot}
  %r.slot = getelementptr i8, ptr %slots, i32 %r.offset
  %r.old = cmpxchg ptr %r.slot, i32 1, i32 0 acq_rel acquire
  %r.done = extractvalue {{ i32, i1 }} %r.old, 1
  %r.one = zext i1 %r.done to i32
  %back.next = add i32 %back, %r.one
  %r.next = add i32 %r, 1
  %r.more = icmp slt i32 %r.next, %workers
  br i1 %r.more, label %revoke, label %settle
settle:
  %settled = atomicrmw sub ptr %pending, i32 %back.next seq_cst
  br label %spin
spin:
  %turn = phi i32 [0, %settle], [%turn.next, %again]
  %seen = load atomic i32, ptr %pending acquire, align 4
  %finished = icmp eq i32 %seen, 0
  br i1 %finished, label %done, label %again
again:
  {pause}
  %turn.next = add i32 %turn, 1
  %more = icmp slt i32 %turn.next, {spin}
  br i1 %more, label %spin, label %lie.down
lie.down:
  store atomic i32 1, ptr %main.sleeps seq_cst, align 4
  br label %look
look:
  %left = load atomic i32, ptr %pending seq_cst, align 4
  %none = icmp eq i32 %left, 0
  br i1 %none, label %rise, label %sleep
sleep:
  %woken = call i64 (i64, ...) @syscall(i64 {futex}, ptr %pending, i32 128, i32 %left, ptr null)
  br label %look
rise:
  store atomic i32 0, ptr %main.sleeps seq_cst, align 4
  br label %done
done:
  {leave}
  ret void
}}
"""


def pool_text(machine: str, *, futex: bool) -> str:
    """The module for a machine (`platform.machine()`); without futexes it has `teeny_run` and `teeny_small` alone."""
    arch = {"amd64": "x86_64", "arm64": "aarch64"}.get(machine.lower(), machine.lower())
    parts = {"x86_64": _X86, "aarch64": _ARM}.get(arch, _OTHER)
    values = dict(parts, spin=str(_SPIN), header=str(HEADER_BYTES), slot=str(SLOT_BYTES))
    text = _RUN.format(**values)
    if futex and arch in _FUTEX_CALL:
        text += _POOL.format(futex=_FUTEX_CALL[arch], **values)
    return text
