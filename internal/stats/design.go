package stats

// MaxFactors is the largest number of settings one screening design holds.
const MaxFactors = 40

// PlackettBurman returns the folded two-level design for the given number of
// settings: one row a run, +1 for on and -1 for off. It consists of the rows of
// a Hadamard matrix of the smallest order n above the number of settings,
// followed by their mirror images (row n+i is row i negated), which clears main
// effects of all two-way interactions (resolution IV). Every setting is on in
// half of the rows, independently of every other. Row 0 has everything on, row
// n everything off. It is nil for fewer than 1 or more than MaxFactors settings.
//
// Designs: R. L. Plackett and J. P. Burman, "The Design of Optimum
// Multifactorial Experiments", Biometrika 33 (1946); folding: G. E. P. Box and
// J. S. Hunter, Technometrics 3 (1961). Matrices: R. E. A. C. Paley, J. Math.
// Phys. 12 (1933), and Sylvester's doubling.
func PlackettBurman(factors int) [][]int8 {
	if factors < 1 || factors > MaxFactors {
		return nil
	}
	order := max(4, (factors+4)/4*4)
	h := hadamard(order)
	design := make([][]int8, 2*order)
	for i, row := range h {
		// The first column is constant and carries the mean.
		design[i] = row[1 : factors+1]
		design[order+i] = make([]int8, factors)
		for j, v := range design[i] {
			design[order+i][j] = -v
		}
	}
	return design
}

// hadamard returns a matrix of the given order with orthogonal rows of ±1 whose
// first row and column are +1, or nil if none of the constructions gives it.
// Orders 2 and all multiples of 4 up to 48 are covered.
func hadamard(order int) [][]int8 {
	switch {
	case order == 1:
		return [][]int8{{1}}
	case order%4 == 0 && isPrime(order-1):
		return normalise(paleyOne(order - 1))
	case order%2 != 0:
		return nil
	}
	if half := hadamard(order / 2); half != nil {
		return double(half)
	}
	if q := order/2 - 1; q%4 == 1 && isPrime(q) {
		return normalise(paleyTwo(q))
	}
	return nil
}

// double is Sylvester's construction.
func double(h [][]int8) [][]int8 {
	n := len(h)
	out := square(2 * n)
	for i := range n {
		for j, v := range h[i] {
			out[i][j], out[i][n+j], out[n+i][j], out[n+i][n+j] = v, v, v, -v
		}
	}
	return out
}

// paleyOne builds order q+1 from a prime q = 3 mod 4.
func paleyOne(q int) [][]int8 {
	chi := residues(q)
	out := square(q + 1)
	for i := range out {
		out[0][i], out[i][0] = 1, -1
	}
	out[0][0] = 1
	for i := range q {
		for j := range q {
			out[i+1][j+1] = chi[(i-j+q)%q]
		}
		out[i+1][i+1] = 1
	}
	return out
}

// paleyTwo builds order 2(q+1) from a prime q = 1 mod 4: each entry of the
// symmetric conference matrix of order q+1 becomes a 2x2 block.
func paleyTwo(q int) [][]int8 {
	chi := residues(q)
	out := square(2 * (q + 1))
	for i := range q + 1 {
		for j := range q + 1 {
			block := [4]int8{1, -1, -1, -1} // where the conference matrix is 0
			if i != j {
				c := int8(1)
				if i > 0 && j > 0 {
					c = chi[(i-j+q)%q]
				}
				block = [4]int8{c, c, c, -c}
			}
			out[2*i][2*j], out[2*i][2*j+1] = block[0], block[1]
			out[2*i+1][2*j], out[2*i+1][2*j+1] = block[2], block[3]
		}
	}
	return out
}

// residues is the quadratic character modulo the prime q.
func residues(q int) []int8 {
	chi := make([]int8, q)
	for i := 1; i < q; i++ {
		chi[i] = -1
	}
	for i := 1; i < q; i++ {
		chi[i*i%q] = 1
	}
	return chi
}

// normalise makes the first row and column +1 by changing signs.
func normalise(h [][]int8) [][]int8 {
	for j := range h {
		if h[0][j] < 0 {
			for i := range h {
				h[i][j] = -h[i][j]
			}
		}
	}
	for _, row := range h {
		if row[0] < 0 {
			for j := range row {
				row[j] = -row[j]
			}
		}
	}
	return h
}

func square(n int) [][]int8 {
	m := make([][]int8, n)
	for i := range m {
		m[i] = make([]int8, n)
	}
	return m
}

func isPrime(n int) bool {
	for d := 2; d*d <= n; d++ {
		if n%d == 0 {
			return false
		}
	}
	return n > 1
}
