module prism-gateway-example

go 1.19
