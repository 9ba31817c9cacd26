;;; wirerate in Emacs with eglot (part of 29 and later): add to your init file.
(define-derived-mode wirerate-conf-mode conf-unix-mode "Wirerate"
  "Configuration files that wirerate judges.")
(dolist (file '("/sysctl\\.conf\\'" "/sysctl\\.d/.*\\.conf\\'" "/loader\\.conf\\'" "/rc\\.conf\\'"
                "/hostname\\.[a-z]+[0-9]+\\'" "/pf\\.conf\\'" "\\.link\\'" "\\.network\\'"
                "/modprobe\\.d/.*\\.conf\\'" "/tuned\\.conf\\'"
                "/security/limits\\.conf\\'" "/security/limits\\.d/.*\\.conf\\'"))
  (add-to-list 'auto-mode-alist (cons file 'wirerate-conf-mode)))
(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '(wirerate-conf-mode . ("wirerate" "lsp"))))
(add-hook 'wirerate-conf-mode-hook #'eglot-ensure)
