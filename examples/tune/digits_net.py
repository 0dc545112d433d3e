"""A network for handwritten digits, searched over by a Python function: 40 configurations, of 27 epochs at most.
Needs PyTorch and scikit-learn, and uses a GPU if there is one.

    python3 examples/tune/digits_net.py               a trial on each GPU, or on each core
    python3 examples/tune/digits_net.py 'auto*4'      four trials share each GPU
"""

import sys

import hpsearch as hp


def train(trial):
    import sklearn.datasets
    import sklearn.model_selection
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(trial.seed)
    images, labels = sklearn.datasets.load_digits(return_X_y=True)
    images, held_out, labels, held_out_labels = (
        torch.as_tensor(part, device=device) for part in sklearn.model_selection.train_test_split(
            images.astype("float32") / 16, labels, test_size=0.3, random_state=0, stratify=labels))
    net = torch.nn.Sequential(
        torch.nn.Unflatten(1, (1, 8, 8)),
        torch.nn.Conv2d(1, trial["channels"], 3, padding=1), torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.Dropout(trial["dropout"]), torch.nn.Linear(64 * trial["channels"], trial["width"]), torch.nn.ReLU(),
        torch.nn.Linear(trial["width"], 10)).to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=trial["lr"], momentum=trial["momentum"], nesterov=True)

    def load(state):
        net.load_state_dict(state["net"])
        optimizer.load_state_dict(state["optimizer"])

    for epoch in trial.epochs(trial.load(load)):
        net.train()
        for batch in torch.randperm(len(images), device=device).split(32):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(net(images[batch]), labels[batch]).backward()
            optimizer.step()
        net.eval()
        with torch.no_grad():
            outputs = net(held_out)
            loss = torch.nn.functional.cross_entropy(outputs, held_out_labels).item()
            accuracy = (outputs.argmax(1) == held_out_labels).float().mean().item()
        trial.report(epoch, val_loss=loss, accuracy=accuracy,
                     save=lambda: {"net": net.state_dict(), "optimizer": optimizer.state_dict()})


if __name__ == "__main__":
    result = hp.tune(
        train,
        {"lr": hp.loguniform(1e-3, 1), "momentum": hp.uniform(0.5, 0.99), "dropout": hp.uniform(0, 0.5),
         "channels": hp.int(4, 64), "width": hp.int(16, 512)},
        metric="val_loss", max_length=27, max_trials=40, name="digits-net", seed=1,
        slots=sys.argv[1] if len(sys.argv) > 1 else None,
        preload=["torch", "sklearn.datasets", "sklearn.model_selection"])
    print(result.best.params, result.best.metric)
