"""A chapter measures where a GPU answers, and says so where none does."""

from gpukernels.notebook import measured


def test_without_a_gpu_the_cell_says_that_nothing_is_measured(monkeypatch, capsys):
    def none_answers():
        raise RuntimeError("no CUDA GPU")

    monkeypatch.setattr(measured, "CudaDevice", none_answers)
    assert measured.own_gpu() is None
    assert capsys.readouterr().out == "No CUDA GPU answers here, so nothing is measured.\n"


def test_the_gpu_that_answers_is_returned(monkeypatch, capsys):
    monkeypatch.setattr(measured, "CudaDevice", lambda: "a GPU")
    assert measured.own_gpu() == "a GPU"
    assert not capsys.readouterr().out


def test_each_search_is_timed_on_the_gpu(monkeypatch):
    devices = []

    def kernels(gpu, run, repeat):
        run(gpu)
        return 1.0 * repeat

    def call(run, repeat):
        run()
        return 2.0 * repeat

    monkeypatch.setattr(measured, "kernel_ms", kernels)
    monkeypatch.setattr(measured, "wall_ms", call)
    searches = {"one": lambda device: devices.append(device), "two": lambda device: None}
    assert measured.timed("a GPU", searches, 3) == [("one", 3.0, 6.0), ("two", 3.0, 6.0)]
    assert devices == ["a GPU", "a GPU"]
