package elsewhere

import "testing"

func TestLeadsElsewhere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path, from string
		want       bool
	}{
		{`\\evil.example\s\r`, `C:\work`, true},
		{`//evil.example/s/r`, `C:\work`, true},
		{`/\evil.example/s`, `C:\work`, true},
		{`\\evil.example@SSL\DavWWWRoot\r`, "", true},
		{`\\evil`, `C:\work`, true},
		{`\\`, `C:\work`, true},
		{`\\?\UNC\evil\s\r`, `C:\work`, true},
		{`\??\UNC\evil\s\r`, `C:\work`, true},
		{`/??/UNC/evil/s/r`, `C:\work`, true},
		{`//./pipe/x`, `C:\work`, true},
		{`\\.\GLOBALROOT\Device\Mup\evil\s`, `C:\work`, true},
		{`\\?\C:\work\x`, `C:\work`, true},
		{`C:\work\.git`, `C:\work`, false},
		{`D:/other`, `C:\work`, false},
		{`..\x`, `C:\work`, false},
		{`\rooted`, `C:\work`, true},
		{`/rooted`, `C:\work`, true},
		{`C:x`, `C:\work`, true},
		{`c:`, `C:\work`, true},
		{`C:/x`, `C:\work`, false},
		{`C:\work\..\\evil\s`, `C:\work`, false},
		{"", "", false},

		{`\\nas\team\repo\.git`, `\\nas\team\worktree`, false},
		{`//NAS/Team/repo`, `\\nas\team`, false},
		{`\\?\UNC\nas\team\x`, `\\?\UNC\nas\team\y`, false},
		{`\\?\C:\x`, `\\?\c:\y`, false},
		{`\\nas\apart\repo`, `\\nas\team\worktree`, true},
		{`\\nas.evil\team\repo`, `\\nas\team\worktree`, true},
		{`\\nas\team2`, `\\nas\team`, true},
		{`\\?\UNC\nas\apart\x`, `\\?\UNC\nas\team\y`, true},
		{`\\.\pipe\x`, `\\.\C:\y`, true},
		{`\\nas`, `\\nas\team`, true},
	} {
		if got := leads(c.path, "", c.from); got != c.want {
			t.Errorf("leads(%q, %q) = %v, want %v", c.path, c.from, got, c.want)
		}
	}
}
