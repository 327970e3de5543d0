# Builds a program of this directory that needs nothing but CUDA:
#   sh compile.sh NVCC wgmma_bits|weight_gradients DIR
set -eu
case $2 in
  wgmma_bits) set -- "$@" -gencode arch=compute_90a,code=sm_90a ;;
  *) set -- "$@" -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 ;;
esac
nvcc=$1 name=$2 dir=$3
shift 3
exec "$nvcc" -std=c++17 -O2 "$@" "$(dirname "$0")/$name.cu" -ldl -o "$dir/$name"
