// Package secrets has payloads with fields that look like secrets, or only so.
//
//emq:queue name=secrets
package secrets

import (
	"encoding/json"
	"net/url"
	"time"
)

//emq:job
type Shown struct {
	Password      string            // want `Shown.Password looks like a secret, and is shown wherever the payload is; tag it emq:"redact", or emq:"public" if it may be seen \(E103\)`
	APIKey        string            // want `Shown.APIKey looks`
	Key           string            `json:"apiKey"` // want `Shown.Key looks`
	AccessToken   *string           // want `Shown.AccessToken looks`
	Tokens        []string          // want `Shown.Tokens looks`
	PrivateKey    []byte            // want `Shown.PrivateKey looks`
	Secrets       map[string]string // want `Shown.Secrets looks`
	Credentials   struct{ User string } // want `Shown.Credentials looks`
	Authorization json.RawMessage   // want `Shown.Authorization looks`
	Token_value   any               // want `Shown.Token_value looks`
	SSN           int64             // want `Shown.SSN looks`
	CardNumber    string            // want `Shown.CardNumber looks`
	Account       Account
	Accounts      []Account
	URL           *url.Userinfo `json:"-"`
}

type Account struct {
	Login string
	Pwd   string `json:"pwd"` // want `Shown.Account.Pwd looks`
}

//emq:job
type Hidden struct {
	Password string  `emq:"redact"`
	Token    string  `json:"token" emq:"public"`
	Account  Account `emq:"redact"`
	Unsent   Account `json:"-"`
}

//emq:job
type Lookalikes struct {
	TokenCount      int
	MaxTokens       int
	Tokens          int
	Tokenizer       string
	TokenType       string
	NextPageToken   string
	HasPassword     bool
	PasswordChanged time.Time
	PasswordPolicy  string
	SecretName      string
	Secretary       string
	PublicKey       string
	Key             string
	CardNumbers     int
	Passport        string
	Author          string
	Expiry          time.Time `json:"token"`
}
