// Copy a log over tlog-tiles and check every entry, with nothing but Go's own packages for transparency logs.
//
//	copy_log ADDRESS VERIFIER_KEY [TOKEN]
package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const height = 8

type reader struct {
	address, token string
	tiles          map[tlog.Tile][]byte
}

func (r *reader) get(path string) ([]byte, error) {
	request, err := http.NewRequest("GET", r.address+"/"+path, nil)
	if err != nil {
		return nil, err
	}
	if r.token != "" {
		request.Header.Set("Authorization", "Bearer "+r.token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != 200 {
		return nil, fmt.Errorf("%s: %s", path, response.Status)
	}
	return io.ReadAll(response.Body)
}

func (r *reader) Height() int { return height }

// Go's paths begin with the height, which is always 8 in C2SP's.
func (r *reader) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	var all [][]byte
	for _, tile := range tiles {
		data, known := r.tiles[tile]
		if !known {
			var err error
			data, err = r.get(strings.Replace(tile.Path(), "tile/8/", "tile/", 1))
			if err != nil {
				return nil, err
			}
		}
		all = append(all, data)
	}
	return all, nil
}

func (r *reader) SaveTiles(tiles []tlog.Tile, data [][]byte) {
	for at, tile := range tiles {
		r.tiles[tile] = data[at]
	}
}

func (r *reader) entries(first, width int64) ([][]byte, error) {
	place := tlog.Tile{H: height, L: 0, N: first / 256, W: int(width)}.Path()
	data, err := r.get(strings.Replace(place, "tile/8/0/", "tile/entries/", 1))
	if err != nil {
		return nil, err
	}
	var entries [][]byte
	for len(data) >= 2 {
		size := int(binary.BigEndian.Uint16(data))
		entries = append(entries, data[2:2+size])
		data = data[2+size:]
	}
	return entries, nil
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	r := &reader{address: os.Args[1], tiles: map[tlog.Tile][]byte{}}
	if len(os.Args) > 3 {
		r.token = os.Args[3]
	}
	verifier, err := note.NewVerifier(os.Args[2])
	check(err)
	text, err := r.get("checkpoint")
	check(err)
	head, err := note.Open(text, note.VerifierList(verifier))
	check(err)
	lines := strings.Split(head.Text, "\n")
	size, err := strconv.ParseInt(lines[1], 10, 64)
	check(err)
	root, err := tlog.ParseHash(lines[2])
	check(err)
	hashes := tlog.TileHashReader(tlog.Tree{N: size, Hash: root}, r)
	for first := int64(0); first < size; first += 256 {
		width := size - first
		if width > 256 {
			width = 256
		}
		entries, err := r.entries(first, width)
		check(err)
		var indexes []int64
		for at := int64(0); at < width; at++ {
			indexes = append(indexes, tlog.StoredHashIndex(0, first+at))
		}
		proven, err := hashes.ReadHashes(indexes)
		check(err)
		if int64(len(entries)) != width {
			check(fmt.Errorf("bundle at %d holds %d entries", first, len(entries)))
		}
		for at, entry := range entries {
			if tlog.RecordHash(entry) != proven[at] {
				check(fmt.Errorf("entry %d is not the one in the tree", first+int64(at)))
			}
		}
		if (first/256)%256 == 0 {
			r.tiles = map[tlog.Tile][]byte{} // memory stays flat
		}
	}
	fmt.Printf("%d entries of %s are in the tree that was signed\n", size, lines[0])
}
