class Wirerate < Formula
  desc "Finds what limits a network path, tunes it and proves what helped"
  homepage "https://github.com/wirerate/wirerate"
  url "https://github.com/wirerate/wirerate/releases/download/@TAG@/wirerate-@TAG@-src.tar.gz"
  version "@VERSION@"
  sha256 "@SHA256@"
  license "BSD-2-Clause"

  depends_on "go" => :build

  def install
    ldflags = "-s -w -X github.com/wirerate/wirerate/internal/cli.Version=@TAG@"
    system "go", "build", "-mod=vendor", *std_go_args(ldflags:), "./cmd/wirerate"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/wirerate.bash" => "wirerate"
    zsh_completion.install "completions/_wirerate"
    fish_completion.install "completions/wirerate.fish"
  end

  test do
    assert_match "@TAG@", shell_output("#{bin}/wirerate version")
    (testpath/"sysctl.conf").write "net.ipv4.tcp_tw_recycle = 1\n"
    assert_match "removed", shell_output("#{bin}/wirerate lint --os linux #{testpath}/sysctl.conf", 1)
  end
end
