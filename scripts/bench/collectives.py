"""Communication between the GPUs of this machine by torch.distributed: the cases of collectives.ts, a process for each GPU.

    python3 scripts/bench/collectives.py 4 [--small]
"""
import os
import statistics
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

KB = 1024
SMALL = "--small" in sys.argv
ALL_REDUCES = [kb * KB for kb in (8, 64, 256, KB, 16 * KB, 256 * KB, KB * KB) if not SMALL or kb < KB]
OTHERS = [] if SMALL else [kb * KB for kb in (16 * KB, KB * KB)]


def timed(stream, count, run):
    times = []
    with torch.cuda.stream(stream):
        for _ in range(9):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            run()
            end.record()
            end.synchronize()
            times.append(start.elapsed_time(end) * 1000 / count)
    return statistics.median(times[2:])


def captured(count, call):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for _ in range(count):
            call()
    return timed(stream, count, graph.replay)


def show(rank, size, name, size_bytes, time):
    slowest = torch.tensor([time], device="cuda")
    dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
    if rank != 0:
        return
    time = slowest.item()
    factor = (2 if name.startswith("all-reduce") else 1) * (size - 1) / size
    bandwidth = size_bytes * factor / time / 1000
    print(f"torch: {name} {size_bytes // KB} kB: {time:.1f} us, {bandwidth:.0f} GB/s bus", flush=True)


def work(rank, size):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29511")
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=size, device_id=torch.device("cuda", rank))
    for size_bytes in ALL_REDUCES:
        x = torch.zeros(size_bytes // 2, dtype=torch.bfloat16, device="cuda")
        call = lambda: dist.all_reduce(x)
        count = 100 if size_bytes < 1e6 else 20 if size_bytes < 1e8 else 3
        show(rank, size, "all-reduce", size_bytes, captured(count, call))
        if size_bytes == 8 * KB:
            time = timed(torch.cuda.Stream(), 200, lambda: [call() for _ in range(200)])
            show(rank, size, "all-reduce, eager", size_bytes, time)
    for size_bytes in OTHERS:
        whole = torch.zeros(size_bytes // 2, dtype=torch.bfloat16, device="cuda")
        part = torch.zeros(size_bytes // 2 // size, dtype=torch.bfloat16, device="cuda")
        count = 20 if size_bytes < 1e8 else 3
        show(rank, size, "reduce-scatter", size_bytes,
             captured(count, lambda: dist.reduce_scatter_tensor(part, whole)))
        show(rank, size, "all-gather", size_bytes,
             captured(count, lambda: dist.all_gather_into_tensor(whole, part)))
    if not SMALL:
        perceptron(rank, size)
    dist.destroy_process_group()


def perceptron(rank, size):
    rows, width, hidden = 8192, 8192, 28672
    x = torch.randn(rows, width, dtype=torch.bfloat16, device="cuda")
    first = torch.randn(width, hidden // size, dtype=torch.bfloat16, device="cuda")
    second = torch.randn(hidden // size, width, dtype=torch.bfloat16, device="cuda")

    def products():
        return x @ first @ second

    def reduced():
        dist.all_reduce(products())

    for name, run in (("products alone", products), ("products, then all-reduce", reduced)):
        dist.barrier()
        time = timed(torch.cuda.Stream(), 5, lambda: [run() for _ in range(5)])
        slowest = torch.tensor([time], device="cuda")
        dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
        if rank == 0:
            print(f"torch: perceptron, {name}: {slowest.item() / 1000:.3f} ms", flush=True)


if __name__ == "__main__":
    count = int(sys.argv[1]) if sys.argv[1:] else torch.cuda.device_count()
    if count == torch.cuda.device_count():
        print("NCCL", torch.cuda.nccl.version(), torch.cuda.get_device_name())
    mp.spawn(work, args=(count,), nprocs=count)
