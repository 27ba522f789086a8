module example.com/fixes

go 1.26
