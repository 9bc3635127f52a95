package dev.troupe.peer;

import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.bytedeco.pytorch.CompilationUnit;
import org.bytedeco.pytorch.Function;
import org.bytedeco.pytorch.GenericList;
import org.bytedeco.pytorch.IValue;
import org.bytedeco.pytorch.IValueVector;
import org.bytedeco.pytorch.QualifiedName;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorType;
import org.bytedeco.pytorch.Type;
import org.bytedeco.pytorch.global.torch;

/**
 * Clipping and AdamW by PyTorch's fused kernels. C++ has no optimizer that calls them, so a few lines of TorchScript do,
 * once a step.
 */
final class Update {
    private static final String SCRIPT = """
            def norm(gradients: List[Tensor]) -> Tensor:
                return torch.linalg_vector_norm(torch.stack(torch._foreach_norm(gradients)))

            def clip(gradients: List[Tensor], norm: Tensor):
                torch._foreach_mul_(gradients, torch.clamp(1.0 / (norm + 1e-6), max=1.0))

            def adamw(weights: List[Tensor], gradients: List[Tensor], means: List[Tensor], squares: List[Tensor],
                      steps: List[Tensor], decay: float):
                torch._foreach_add_(steps, 1)
                torch._fused_adamw_(weights, gradients, means, squares, [], steps, lr=1e-3, beta1=0.9, beta2=0.95,
                                    weight_decay=decay, eps=1e-8, amsgrad=False, maximize=False)
            """;
    private static final double DECAY = 0.1;

    private final CompilationUnit script = torch.compile(SCRIPT);
    private final List<Group> groups;
    /** A table that another rank has too counts there; null if there is none. */
    private final Tensor secondCopy;

    /** Weights that decay alike, with their state. */
    private record Group(List<Tensor> weights, List<Tensor> means, List<Tensor> squares, List<Tensor> steps,
            double decay) {
        static Group of(List<Tensor> weights, double decay) {
            List<Tensor> means = new ArrayList<>();
            List<Tensor> squares = new ArrayList<>();
            List<Tensor> steps = new ArrayList<>();
            for (Tensor weight : weights) {
                means.add(torch.zeros_like(weight));
                squares.add(torch.zeros_like(weight));
                steps.add(torch.tensor(0f));
            }
            return new Group(weights, means, squares, steps, decay);
        }
    }

    Update(List<Tensor> parameters, Tensor secondCopy) {
        this.secondCopy = secondCopy;
        groups = List.of(Group.of(parameters.stream().filter(weight -> weight.dim() >= 2).toList(), DECAY),
                Group.of(parameters.stream().filter(weight -> weight.dim() < 2).toList(), 0));
    }

    /**
     * Clips gradients at 1 by the norm over all ranks, updates the weights and drops the gradients.
     *
     * @param overRanks returns the norm over all ranks, given the norm of a rank
     */
    void apply(UnaryOperator<Tensor> overRanks) {
        List<Tensor> all = groups.stream().flatMap(group -> group.weights.stream()).toList();
        List<Tensor> counted = all.stream().filter(weight -> weight != secondCopy).toList();
        Tensor norm = overRanks.apply(call("norm", list(gradients(counted))).toTensor());
        call("clip", list(gradients(all)), new IValue(norm));
        for (Group group : groups) {
            call("adamw", list(group.weights), list(gradients(group.weights)), list(group.means), list(group.squares),
                    list(group.steps), new IValue(group.decay));
        }
        all.forEach(weight -> weight.mutable_grad().put(new Tensor()));
    }

    private static List<Tensor> gradients(List<Tensor> weights) {
        return weights.stream().map(Tensor::grad).toList();
    }

    private static IValue list(List<Tensor> tensors) {
        GenericList list = new GenericList(new Type.TypePtr(TensorType.get()));
        tensors.forEach(tensor -> list.push_back(new IValue(tensor)));
        return new IValue(list);
    }

    private IValue call(String name, IValue... arguments) {
        Function function = script.find_function(new QualifiedName(name));
        return function.apply(new IValueVector(arguments));
    }
}
