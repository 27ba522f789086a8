package vet

import (
	"slices"
	"strings"
	"unicode"
)

// secretNames are what secrets are called, words joined: a name that ends so is
// that of a secret. What only mentions one, TokenCount or SecretName, is not.
var secretNames = []string{
	"password", "passwords", "passwd", "passphrase", "passcode", "pwd", "passwordhash",
	"secret", "secrets", "credential", "credentials",
	"token", "tokens", "accesstoken", "refreshtoken", "authtoken", "sessiontoken", "bearertoken", "apitoken", "jwt", "bearer",
	"authorization", "otp", "totp", "seedphrase",
	"apikey", "apikeys", "privatekey", "privatekeys", "accesskey", "secretkey", "signingkey", "encryptionkey",
}

// secretNumbers are what numbers are called that are not to be seen, written in
// digits or as whole numbers.
var secretNumbers = []string{
	"ssn", "socialsecuritynumber", "cardnumber", "creditcard", "creditcardnumber", "cvv", "cvc",
}

// tokensOf are the words before token with which it gives no access.
var tokensOf = []string{
	"page", "next", "continuation", "pagination", "cursor", "sync", "start",
	"idempotency", "deduplication", "correlation", "fencing", "lock", "lease",
	"max", "min", "num", "total", "input", "output", "prompt", "completion",
}

// forms are the words behind a name that say how its value is written.
var forms = []string{"value", "string", "text", "plain", "plaintext", "raw", "header", "bytes", "base64"}

// isSecret reports whether a name is that of a secret, which for a number is
// another one than for text.
func isSecret(name string, number bool) bool {
	split := words(name)
	for len(split) > 1 && slices.Contains(forms, split[len(split)-1]) {
		split = split[:len(split)-1]
	}
	for i := range split {
		ending := strings.Join(split[i:], "")
		switch {
		case slices.Contains(secretNumbers, ending):
			return true
		case number || !slices.Contains(secretNames, ending):
		case i > 0 && strings.HasPrefix(ending, "token") && slices.Contains(tokensOf, split[i-1]):
		default:
			return true
		}
	}
	return false
}

// words splits a name, apiKey or API_KEY or APIKey, into its words in lower case.
func words(name string) []string {
	var split []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			split = append(split, strings.ToLower(string(word)))
			word = word[:0]
		}
	}
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
			continue
		case unicode.IsUpper(r) && i > 0 && !unicode.IsUpper(runes[i-1]),
			unicode.IsUpper(r) && i+1 < len(runes) && unicode.IsLower(runes[i+1]):
			end()
		}
		word = append(word, r)
	}
	end()
	return split
}
