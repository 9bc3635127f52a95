// The instructions of tensor cores, and copies to shared memory that go on while a block computes.
#pragma once
#include "prelude.cuh"

// The address of something in shared memory, as the instructions take it.
DEVICE u32 shared_address(const void *pointer) {
    return (u32) (u64) (__attribute__((address_space(3))) const void *) pointer;
}
// Four matrices of 8 x 8; lane l gives the address of row l % 8 of matrix l / 8.
template <bool TRANSPOSED> DEVICE void load_matrices(u32 (&to)[4], u32 address) {
    if (TRANSPOSED) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(address) : "memory");
    } else {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(address) : "memory");
    }
}
DEVICE void multiply(float (&sum)[4], const u32 (&a)[4], u32 b0, u32 b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
            "{%0, %1, %2, %3};"
            : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Two numbers of bfloat16, rounded to the nearest and to even.
DEVICE u32 packed(float low, float high) {
    u32 result;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
    return result;
}

// Begins to copy 16 bytes from global memory, or to write 16 bytes of zeros; both begin at 16 bytes.
DEVICE void begin_copy(u32 to, const void *from, bool lies) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
            :: "r"(to), "l"(from), "r"(lies ? 16 : 0) : "memory");
}
// Begins to copy four bytes.
DEVICE void begin_word(u32 to, const void *from, bool lies) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
            :: "r"(to), "l"(from), "r"(lies ? 4 : 0) : "memory");
}
// The copies that this thread began since it last called this are a group.
DEVICE void close_copies() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}
// Waits for this thread's groups of copies but for the last OPEN; a barrier shows them to other threads.
template <int OPEN> DEVICE void await_copies() {
    asm volatile("cp.async.wait_group %0;" :: "n"(OPEN) : "memory");
}
