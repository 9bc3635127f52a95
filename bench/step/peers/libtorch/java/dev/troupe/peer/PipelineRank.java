package dev.troupe.peer;

import java.util.ArrayList;
import java.util.List;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.BoolOptional;
import org.bytedeco.pytorch.ProcessGroupGloo;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Store;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.Work;
import org.bytedeco.pytorch.global.torch;

/**
 * One rank of a pipeline over Gloo with one stage a rank, in the order of torch.distributed.pipelining: all forwards and
 * then all backwards, or 1F1B. A receive is waited for where its tensor is computed on; a send only at the end of the step,
 * where PyTorch's 1F1B waits for it together with the next receive.
 */
final class PipelineRank implements Trainer {
    private final Arguments arguments;
    private final int rank;
    private final Gpt2Stage stage;
    private final ProcessGroupGloo group;
    /** The first and the last rank, which both have the table; null elsewhere. */
    private final ProcessGroupGloo ends;
    private final Scalar microbatches;

    private final Tensor[] received;
    private final Tensor[] outputs;
    private final List<Work> sends = new ArrayList<>();
    private final List<Tensor> sent = new ArrayList<>();

    PipelineRank(Arguments arguments, int rank, PublishedWeights weights, Store store, Store storeOfEnds) {
        this.arguments = arguments;
        this.rank = rank;
        stage = new Gpt2Stage(arguments, rank, arguments.ranks(), weights);
        group = group(store, rank, arguments.ranks());
        ends = stage.table() == null ? null : group(storeOfEnds, stage.isFirst() ? 0 : 1, 2);
        microbatches = new Scalar((double) arguments.microbatches());
        received = new Tensor[arguments.microbatches()];
        outputs = new Tensor[arguments.microbatches()];
    }

    private static ProcessGroupGloo group(Store store, int rank, int size) {
        ProcessGroupGloo.Options options = ProcessGroupGloo.Options.create();
        options.devices().push_back(ProcessGroupGloo.createDeviceForHostname("127.0.0.1"));
        return new ProcessGroupGloo(store, rank, size, options);
    }

    @Override
    public List<Tensor> parameters() {
        return stage.parameters();
    }

    @Override
    public Tensor secondCopy() {
        return stage.isLast() ? stage.table() : null;
    }

    @Override
    public double accumulate(List<Tensor> inputs, List<Tensor> targets) {
        int count = arguments.microbatches();
        int ahead = "gpipe".equals(arguments.schedule()) ? count : Math.min(count, arguments.ranks() - rank);
        double total = 0;
        int backwards = 0;
        for (int forwards = 0; forwards < count + ahead; forwards++) {
            if (forwards >= ahead) {
                total += backward(backwards++);
            }
            if (forwards < count) {
                forward(forwards, inputs, targets);
            }
        }
        sends.forEach(Work::_wait);
        sends.forEach(Work::close);
        sends.clear();
        sent.forEach(Tensor::close);
        sent.clear();
        if (ends != null) {
            ends.allreduce(new TensorVector(stage.table().grad()))._wait();
        }
        return stage.isLast() ? total : Double.NaN;
    }

    private void forward(int microbatch, List<Tensor> inputs, List<Tensor> targets) {
        received[microbatch] = stage.isFirst()
                ? null
                : receive(rank - 1, tag(microbatch, false)).set_requires_grad(true);
        try (PointerScope _ = new PointerScope()) {
            Tensor input = stage.isFirst() ? inputs.get(microbatch) : received[microbatch];
            outputs[microbatch] = stage.isLast()
                    ? OneProcess.loss(stage, input, targets.get(microbatch), microbatches)
                    : stage.forward(input);
            outputs[microbatch].retainReference();
        }
        if (!stage.isLast()) {
            send(outputs[microbatch].detach(), rank + 1, tag(microbatch, false));
        }
    }

    /** Returns the microbatch's share of the loss; 0 on a rank without the head. */
    private double backward(int microbatch) {
        double loss = 0;
        if (stage.isLast()) {
            outputs[microbatch].backward();
            loss = outputs[microbatch].item_float();
        } else {
            try (Tensor gradient = receive(rank + 1, tag(microbatch, true));
                    TensorVector roots = new TensorVector(outputs[microbatch]);
                    TensorVector gradients = new TensorVector(gradient)) {
                torch.backward(roots, gradients, new BoolOptional(), false, new TensorVector());
            }
        }
        outputs[microbatch].close();
        if (!stage.isFirst()) {
            send(received[microbatch].grad(), rank - 1, tag(microbatch, true));
            received[microbatch].close();
        }
        return loss;
    }

    private static int tag(int microbatch, boolean isGradient) {
        return 2 * microbatch + (isGradient ? 1 : 0);
    }

    private Tensor receive(int from, int tag) {
        Tensor target = torch.empty(arguments.microbatchSize(), arguments.sequence(), arguments.hidden());
        try (TensorVector tensors = new TensorVector(target); Work work = group.recv(tensors, from, tag)) {
            work._wait();
        }
        return target;
    }

    private void send(Tensor tensor, int to, int tag) {
        sent.add(tensor);
        sends.add(group.send(new TensorVector(tensor), to, tag));
    }

    @Override
    public Tensor globalNorm(Tensor norm) {
        Tensor squared = norm.square();
        group.allreduce(new TensorVector(squared))._wait();
        return squared.sqrt();
    }
}
