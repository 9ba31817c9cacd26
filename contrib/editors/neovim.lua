-- wirerate in Neovim 0.7 or later: copy to ~/.config/nvim/plugin/wirerate.lua.
local client
vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile" }, {
  pattern = {
    "sysctl.conf", "*/sysctl.d/*.conf", "loader.conf", "*/loader.conf.d/*.conf", "rc.conf", "rc.conf.local",
    "hostname.*", "pf.conf", "*.link", "*.network", "*/network/interfaces", "*/modprobe.d/*.conf", "tuned.conf",
    "*/security/limits.conf", "*/security/limits.d/*.conf",
  },
  callback = function(args)
    local config = { name = "wirerate", cmd = { "wirerate", "lsp" }, root_dir = vim.fn.fnamemodify(args.file, ":p:h") }
    -- config.settings = { wirerate = { os = "freebsd", release = "14.3" } }
    if vim.lsp.start then
      vim.lsp.start(config, { bufnr = args.buf, reuse_client = function(c) return c.name == "wirerate" end })
    else
      client = client or vim.lsp.start_client(config)
      vim.lsp.buf_attach_client(args.buf, client)
    end
  end,
})
