package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

// freePort returns a port of loopback that nobody listens on.
func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// startValkey starts a server of our own, which stop ends.
func startValkey(ctx context.Context, dir string, aof bool) (addr, version string, stop func(), err error) {
	port, err := freePort()
	if err != nil {
		return "", "", nil, err
	}
	appendOnly := "no"
	if aof {
		appendOnly = "yes"
	}
	server := exec.Command("valkey-server", "--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--save", "",
		"--appendonly", appendOnly, "--appendfsync", "everysec", "--dir", dir)
	server.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := server.Start(); err != nil {
		return "", "", nil, err
	}
	stop = func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	}
	addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	for range 200 {
		var connection net.Conn
		if connection, err = net.Dial("tcp", addr); err == nil {
			_ = connection.Close()
			break
		}
		time.Sleep(25 * time.Millisecond)
	}
	client := redis.NewClient(&redis.Options{Addr: addr})
	defer client.Close()
	info, err := client.InfoMap(ctx, "server").Result()
	if err != nil {
		stop()
		return "", "", nil, fmt.Errorf("valkey-server does not answer: %w", err)
	}
	return addr, "Valkey " + info["Server"]["valkey_version"], stop, nil
}

// startPostgres starts a server of our own, as the user postgres if we are root.
func startPostgres(ctx context.Context, dir string) (addr, version string, stop func(), err error) {
	bins, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil || len(bins) == 0 {
		return "", "", nil, errors.New("PostgreSQL is not installed; install Debian's postgresql")
	}
	bin := bins[len(bins)-1]
	port, err := freePort()
	if err != nil {
		return "", "", nil, err
	}
	attributes := &syscall.SysProcAttr{Pdeathsig: syscall.SIGINT}
	if os.Geteuid() == 0 {
		owner, err := user.Lookup("postgres")
		if err != nil {
			return "", "", nil, err
		}
		uid, _ := strconv.Atoi(owner.Uid)
		gid, _ := strconv.Atoi(owner.Gid)
		if err := os.Chown(dir, uid, gid); err != nil {
			return "", "", nil, err
		}
		attributes.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	run := func(name string, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, filepath.Join(bin, name), args...)
		cmd.SysProcAttr, cmd.Dir = attributes, dir
		return cmd
	}
	data := filepath.Join(dir, "data")
	if out, err := run("initdb", "-D", data, "-U", "postgres", "-A", "trust").CombinedOutput(); err != nil {
		return "", "", nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	server := run("postgres", "-D", data, "-p", strconv.Itoa(port), "-k", dir, "-c", "listen_addresses=127.0.0.1",
		"-c", "shared_buffers=512MB")
	var log bytes.Buffer
	server.Stderr = &log
	if err := server.Start(); err != nil {
		return "", "", nil, err
	}
	stop = func() {
		_ = server.Process.Signal(syscall.SIGINT)
		_ = server.Wait()
	}
	for range 200 {
		if run("pg_isready", "-h", "127.0.0.1", "-p", strconv.Itoa(port)).Run() == nil {
			out, _ := run("postgres", "--version").Output()
			return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), "PostgreSQL " + string(bytes.Fields(out)[2]), stop, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	stop()
	return "", "", nil, fmt.Errorf("postgres does not answer: %s", log.String())
}
