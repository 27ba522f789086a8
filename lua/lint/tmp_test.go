package lint_test
import ("testing";"os";"path/filepath";"github.com/echomq/echomq-go/lua/lint")
func TestTmp(t *testing.T){
 ps,_:=filepath.Glob("../*.lua")
 for _,p:=range ps { b,_:=os.ReadFile(p); for _,f:=range lint.Check(p,b){ t.Log(f) } }
}
