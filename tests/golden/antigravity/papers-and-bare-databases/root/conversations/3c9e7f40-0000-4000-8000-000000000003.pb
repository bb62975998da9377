not for us to read
