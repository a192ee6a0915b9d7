package embedded

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// account is the unprivileged account PostgreSQL runs under when this process
// is root, which PostgreSQL refuses; nil otherwise.
type account struct {
	uid, gid uint32
	// override says that a folder above the data is closed to the account, as
	// /root is: the server then gets the one capability to pass through.
	override bool
}

// capDACOverride is CAP_DAC_OVERRIDE of capabilities(7).
const capDACOverride = 1

func findAccount(dir string) (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err1 != nil || err2 != nil || uid == 0 {
			continue
		}
		a := &account{uid: uint32(uid), gid: uint32(gid)}
		a.override = !a.reaches(dir)
		return a, nil
	}
	return nil, errors.New("PostgreSQL does not run as root, and there is no account postgres or nobody to run it under")
}

// reaches reports whether all folders on the way may be passed by the account.
func (a *account) reaches(dir string) bool {
	for ; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return false
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		owner := ok && stat.Uid == a.uid && info.Mode()&0o100 != 0
		if info.Mode()&0o001 == 0 && !owner {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}

// own gives a folder and all in it to the account.
func (a *account) own(dir string) error {
	if a == nil {
		return nil
	}
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, int(a.uid), int(a.gid))
	})
}

// apply makes a command run under the account.
func (a *account) apply(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{}
	if a == nil {
		return
	}
	command.SysProcAttr.Credential = &syscall.Credential{Uid: a.uid, Gid: a.gid}
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "LANG=C", "HOME=/"}
	if a.override {
		command.SysProcAttr.AmbientCaps = []uintptr{capDACOverride}
	}
}
