-- Copied as flyloom/0.1.0.lua into a folder of MODULEPATH.
local prefix = "/opt/flyloom/0.1.0"

help([[
flyloom: design, price, lay out, route, prove, deploy, verify and simulate interconnection networks.
`flyloom --help` lists the commands, `man flyloom` has their manual.
]])
whatis("Name: flyloom")
whatis("Version: 0.1.0")
whatis("Category: network, simulation")
whatis("Description: a workbench for interconnection networks")

conflict("flyloom")
prepend_path("PATH", pathJoin(prefix, "bin"))
prepend_path("MANPATH", pathJoin(prefix, "share/man"))
prepend_path("CPATH", pathJoin(prefix, "include"))
prepend_path("LIBRARY_PATH", pathJoin(prefix, "lib"))
prepend_path("LD_LIBRARY_PATH", pathJoin(prefix, "lib"))
prepend_path("PKG_CONFIG_PATH", pathJoin(prefix, "lib/pkgconfig"))
prepend_path("CMAKE_PREFIX_PATH", prefix)
