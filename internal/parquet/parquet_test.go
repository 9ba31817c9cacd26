package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// row is what another library makes of the test's table.
type row struct {
	Small  int32    `parquet:"small"`
	Large  *int64   `parquet:"large"`
	Moment *int64   `parquet:"moment,timestamp(millisecond:local)"`
	Number float64  `parquet:"number"`
	Maybe  *float64 `parquet:"maybe"`
	Word   string   `parquet:"word"`
	Text   string   `parquet:"text"`
}

func encode(w io.Writer, rows []row) error {
	small, large := Column{Name: "small", Type: Int32}, Column{Name: "large", Type: Int64, Optional: true}
	moment := Column{Name: "moment", Type: Int64, Optional: true, Moment: true}
	number, maybe := Column{Name: "number", Type: Double}, Column{Name: "maybe", Type: Double, Optional: true}
	word, text := Column{Name: "word", Type: Text}, Column{Name: "text", Type: Text}
	p := NewWriter(w, &small, &large, &moment, &number, &maybe, &word, &text)
	for _, r := range rows {
		small.Int(int64(r.Small))
		for c, v := range map[*Column]*int64{&large: r.Large, &moment: r.Moment} {
			if v == nil {
				c.Null()
			} else {
				c.Int(*v)
			}
		}
		number.Float(r.Number)
		if r.Maybe == nil {
			maybe.Null()
		} else {
			maybe.Float(*r.Maybe)
		}
		word.Text(r.Word)
		text.Text(r.Text)
		p.EndRow()
	}
	return p.Close()
}

// randomRows are rows with words of so many kinds, nulls, and texts up to a length.
func randomRows(seed uint64, n, kinds, length int) []row {
	r := rand.New(rand.NewPCG(seed, 1))
	rows := make([]row, n)
	for i := range rows {
		rows[i] = row{Small: int32(r.Uint32()), Number: r.NormFloat64(), Word: fmt.Sprint("é", r.IntN(kinds)),
			Text: strings.Repeat("x", r.IntN(length+1)) + fmt.Sprint(r.Uint64())}
		if r.IntN(3) > 0 {
			v, m := int64(r.Uint64()), r.Int64N(1<<45)
			rows[i].Large, rows[i].Moment = &v, &m
		}
		if v := r.NormFloat64(); v > 0 {
			rows[i].Maybe = &v
		}
	}
	return rows
}

// A library of others reads the rows that were written: none, few, several row groups by
// their rows and by their bytes, with dictionaries of all widths and with none.
func TestOthersReadIt(t *testing.T) {
	for _, c := range []struct{ rows, kinds, length int }{{0, 1, 0}, {1, 1, 0}, {7, 1, 5}, {9, 2, 5}, {1000, 3, 40},
		{1000, 300, 0}, {5000, 4000, 3}, {groupRows, 2, 3}, {2*groupRows + 5, 70_000, 3}, {9000, 20, 3000}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			rows := randomRows(uint64(c.rows), c.rows, c.kinds, c.length)
			var b bytes.Buffer
			if err := encode(&b, rows); err != nil {
				t.Fatal(err)
			}
			got, err := parquet.Read[row](bytes.NewReader(b.Bytes()), int64(b.Len()))
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != len(rows) {
				t.Fatalf("%d rows of %d", len(got), len(rows))
			}
			for i := range rows {
				if !reflect.DeepEqual(got[i], rows[i]) {
					t.Fatalf("row %d is %+v, not %+v", i, got[i], rows[i])
				}
			}
		})
	}
}

// The schema says what the library's own writer says of the same columns.
func TestSchema(t *testing.T) {
	var b bytes.Buffer
	if err := encode(&b, randomRows(1, 3, 2, 3)); err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	_, got, _ := strings.Cut(f.Schema().String(), "{")
	if _, want, _ := strings.Cut(parquet.SchemaOf(row{}).String(), "{"); got != want {
		t.Errorf("%s\nis not\n%s", got, want)
	}
}

// full is a disk with room for so many bytes.
type full int

var errFull = errors.New("no space left")

func (f *full) Write(b []byte) (int, error) {
	if *f -= full(len(b)); *f < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestFullDisk(t *testing.T) {
	for _, room := range []full{0, 10, 1000} {
		if err := encode(&room, randomRows(1, 5000, 2, 3)); !errors.Is(err, errFull) {
			t.Error(err)
		}
	}
}
