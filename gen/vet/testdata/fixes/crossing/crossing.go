// Package crossing misspells what the types of payloads decide.
//
//emq:queue name=crossing
package crossing

//emq:job
//emq:result Reciept // want `did you mean Receipt\? \(E025\)`
//emq:unique by=UserId,Adress.City // want `did you mean UserID\? \(E071\)` `did you mean Address\? \(E071\)`
//emq:group by=Address.Ciyt // want `Welcome.Address has no field Ciyt; did you mean City\? \(E071\)`
type Welcome struct {
	UserID  int64 `json:"userId"`
	Address Address
	Note    string `json:"note,omitemtpy"` // want `did you mean omitempty\? \(E058\)`
	Email   string `json:"email" emq:"redacted"` // want `did you mean emq:"redact"\? \(E058\)`
	Shown   string "emq:\"publik\"" // want `did you mean emq:"public"\? \(E058\)`
}

type Address struct{ City string }

type Receipt struct{}
