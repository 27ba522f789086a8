package vet

import (
	"go/token"
	"os"
	"path/filepath"
)

// places finds positions of a file set by line and column.
type places struct {
	files  *token.FileSet
	byName map[string]*token.File
	dir    string
}

func newPlaces(files *token.FileSet, dir string) places {
	return places{files: files, byName: map[string]*token.File{}, dir: dir}
}

// of returns the position of a place in a file. One that no Go parser read, such
// as the lock, becomes part of the file set.
func (p places) of(at token.Position, read func(string) ([]byte, error)) token.Pos {
	file := p.file(at.Filename, read)
	if file == nil || at.Line < 1 || at.Line > file.LineCount() {
		return token.NoPos
	}
	offset := file.Offset(file.LineStart(at.Line)) + max(at.Column, 1) - 1
	return file.Pos(min(offset, file.Size()))
}

func (p places) file(name string, read func(string) ([]byte, error)) *token.File {
	if file := p.byName[name]; file != nil {
		return file
	}
	p.files.Iterate(func(file *token.File) bool {
		if filepath.Clean(file.Name()) == name {
			p.byName[name] = file
		}
		return p.byName[name] == nil
	})
	if p.byName[name] == nil {
		content, err := read(name)
		if err != nil {
			return nil
		}
		file := p.files.AddFile(name, -1, len(content))
		file.SetLinesForContent(content)
		p.byName[name] = file
	}
	return p.byName[name]
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
